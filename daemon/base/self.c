// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/self.h"

#include <time.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec time;
    (void)clock_gettime(clock, &time); // these clocks always exist
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

uint64_t self_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

double self_realtime_seconds(void) { return (double)clock_ns(CLOCK_REALTIME) * 1e-9; }

static double monotonic_seconds(void) { return (double)self_monotonic_ns() * 1e-9; }

void self_init(struct self *self, size_t n_cpus) {
    *self = (struct self){0};
    budget_init(&self->budget, n_cpus, monotonic_seconds(), 0);
}

bool self_follow_budget(struct self *self) {
    return budget_update(&self->budget, monotonic_seconds(), self->collection_seconds + self->interrupt_seconds);
}

void self_step_begin(struct self *self) {
    self->step_begun_ns = self_monotonic_ns();
    self->step_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void self_step_end(struct self *self, uint64_t calls, uint64_t interrupts) {
    double seconds = (double)(self_monotonic_ns() - self->step_begun_ns) * 1e-9;
    double cpu_seconds = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - self->step_cpu_ns) * 1e-9;
    self->collection_seconds += cpu_seconds;
    if (calls == 0)
        return; // nothing was due
    self->calls += calls;
    self->interrupts += interrupts;
    self->interrupt_seconds += cpu_seconds * (double)interrupts / (double)calls;
    self->rotations++;
    self->rotation_seconds += seconds;
    for (size_t i = 0; i < SELF_BUCKETS_N; i++)
        self->buckets[i] += seconds <= snapshot_rotation_bounds[i];
}

void self_fill(struct self *self, const struct host_roots *roots, double pmu_up, struct snapshot *snapshot) {
    host_linux_process(roots, &self->process);
    double *values = snapshot->values + snapshot_self(snapshot->layout, 0);
    if (snapshot->sequence > 0)
        values[SELF_LAST_SNAPSHOT_TIMESTAMP] = self_realtime_seconds();
    values[SELF_COLLECTION_SECONDS] = self->collection_seconds;
    values[SELF_ROTATION_COUNT] = self->rotations;
    values[SELF_ROTATION_SUM] = self->rotation_seconds;
    for (size_t i = 0; i < SELF_BUCKETS_N; i++)
        values[SELF_ROTATION_BUCKETS + i] = self->buckets[i];
    values[SELF_PMU_UP] = pmu_up;
    values[SELF_CALLS] = (double)self->calls;
    values[SELF_INTERRUPTS] = (double)self->interrupts;
    values[SELF_INTERRUPT_SECONDS] = self->interrupt_seconds;
    values[SELF_BUDGET_USED] = self->budget.used;
    values[SELF_PROCESS_CPU_SECONDS] = self->process.cpu_seconds;
    values[SELF_PROCESS_RESIDENT_BYTES] = self->process.resident_bytes;
    values[SELF_PROCESS_VIRTUAL_BYTES] = self->process.virtual_bytes;
    values[SELF_PROCESS_OPEN_FDS] = self->process.open_fds;
    values[SELF_PROCESS_MAX_FDS] = self->process.max_fds;
    values[SELF_PROCESS_START_TIMESTAMP] = self->process.start_timestamp;
}
