// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/self.h"

#include <math.h>

static uint64_t monotonic_ns(const struct self *self) { return self->clocks->monotonic_ns(self->clocks->context); }
static uint64_t thread_cpu_ns(const struct self *self) { return self->clocks->thread_cpu_ns(self->clocks->context); }

double self_realtime_seconds(const struct self *self) { return self->clocks->realtime_seconds(self->clocks->context); }

void self_note_counted(struct self *self) { self->counted = true; }

void self_init(struct self *self, const struct clocks *clocks, size_t n_cpus, uint64_t now_ns) {
    *self = (struct self){.clocks = clocks, .certificate_expiry_seconds = NAN};
    self->counted_seconds = self_realtime_seconds(self);
    budget_init(&self->budget, n_cpus, (double)now_ns * 1e-9, (struct budget_cost){0});
    self_note_config(self, true);
}

void self_measure_cpus(struct self *self, size_t n_cpus) { self->budget.allowed = budget_allowed(n_cpus); }

void self_note_config(struct self *self, bool successful) {
    self->config.successful = successful;
    if (successful)
        self->config.success_seconds = self_realtime_seconds(self);
}

static struct budget_cost cost_of(const struct self *self) {
    double all_seconds = self->collection_seconds + self->interrupt_seconds;
    return (struct budget_cost){.rotation_seconds = all_seconds - self->change_seconds,
                                .change_seconds = self->change_seconds};
}

double self_rotation_cost(const struct self *self) { return cost_of(self).rotation_seconds; }

bool self_follow_budget(struct self *self, uint64_t now_ns) {
    return budget_update(&self->budget, (double)now_ns * 1e-9, cost_of(self));
}

bool self_may_change(const struct self *self, uint64_t now_ns) {
    return budget_debt(&self->budget, (double)now_ns * 1e-9, cost_of(self)) == 0;
}

void self_step_begin(struct self *self) {
    self->step_begun_ns = monotonic_ns(self);
    self->step_cpu_ns = thread_cpu_ns(self);
}

static double step_seconds(const struct self *self) { return (double)(thread_cpu_ns(self) - self->step_cpu_ns) * 1e-9; }

// Charges a step's CPU time here, and that of its interrupts, whose calls took call_seconds. Returns the sum.
static double charge(struct self *self, double cpu_seconds, double call_seconds, uint64_t calls, uint64_t interrupts) {
    double interrupt_seconds = calls > 0 ? call_seconds * (double)interrupts / (double)calls : 0;
    self->collection_seconds += cpu_seconds;
    self->calls += calls;
    self->interrupts += interrupts;
    self->interrupt_seconds += interrupt_seconds;
    return cpu_seconds + interrupt_seconds;
}

// The part of a step's CPU time that steps usually take.
static double usual_part(struct self *self, double seconds) {
    double usual = self->usual_seconds;
    double part = usual > 0 ? fmin(seconds, SELF_UNUSUAL * usual) : seconds;
    self->usual_seconds = usual > 0 ? usual + (part - usual) / SELF_USUAL_STEPS : part;
    return part;
}

void self_step_end(struct self *self, uint64_t calls, uint64_t interrupts) {
    double seconds = (double)(monotonic_ns(self) - self->step_begun_ns) * 1e-9;
    double cpu_seconds = step_seconds(self), usual_seconds = calls > 0 ? usual_part(self, cpu_seconds) : cpu_seconds;
    (void)charge(self, cpu_seconds, usual_seconds, calls, interrupts);
    self->change_seconds += cpu_seconds - usual_seconds;
    if (calls == 0)
        return; // nothing was due
    self->rotations++;
    self->rotation_seconds += seconds;
    for (size_t i = 0; i < SELF_BUCKETS_N; i++)
        self->buckets[i] += seconds <= snapshot_rotation_bounds[i];
}

void self_change_end(struct self *self, uint64_t calls, uint64_t interrupts) {
    double cpu_seconds = step_seconds(self);
    self->change_seconds += charge(self, cpu_seconds, cpu_seconds, calls, interrupts);
}

void self_fill(struct self *self, const struct host_roots *roots, double pmu_up, struct snapshot *snapshot) {
    host_linux_process(roots, &self->process);
    double *values = snapshot->values + snapshot_self(snapshot->layout, 0);
    if (snapshot->sequence > 0) {
        double now_seconds = self_realtime_seconds(self);
        if (self->counted)
            self->counted_seconds = now_seconds;
        self->counted = false;
        snapshot->taken_seconds = now_seconds;
        values[SELF_LAST_COUNTED_TIMESTAMP] = self->counted_seconds;
    }
    values[SELF_COLLECTION_SECONDS] = self->collection_seconds;
    values[SELF_ROTATION_COUNT] = self->rotations;
    values[SELF_ROTATION_SUM] = self->rotation_seconds;
    for (size_t i = 0; i < SELF_BUCKETS_N; i++)
        values[SELF_ROTATION_BUCKETS + i] = self->buckets[i];
    values[SELF_PMU_UP] = pmu_up;
    values[SELF_CALLS] = (double)self->calls;
    values[SELF_INTERRUPTS] = (double)self->interrupts;
    values[SELF_INTERRUPT_SECONDS] = self->interrupt_seconds;
    values[SELF_CONFIG_SUCCESSFUL] = self->config.successful && !self->config.web_refused;
    values[SELF_CONFIG_SUCCESS_TIMESTAMP] = self->config.success_seconds;
    values[SELF_TEXTFILE_UP] = self->textfile.tried ? (double)(self->textfile.error == 0) : NAN;
    values[SELF_TEXTFILE_ERROR] = self->textfile.tried ? -(double)self->textfile.error : NAN;
    values[SELF_TEXTFILE_FAILURES] = self->textfile.tried ? (double)self->textfile.failures : NAN;
    values[SELF_CERTIFICATE_EXPIRY] = self->certificate_expiry_seconds;
    values[SELF_BUDGET_USED] = self->budget.used;
    values[SELF_PROCESS_CPU_SECONDS] = self->process.cpu_seconds;
    values[SELF_PROCESS_RESIDENT_BYTES] = self->process.resident_bytes;
    values[SELF_PROCESS_VIRTUAL_BYTES] = self->process.virtual_bytes;
    values[SELF_PROCESS_OPEN_FDS] = self->process.open_fds;
    values[SELF_PROCESS_MAX_FDS] = self->process.max_fds;
    values[SELF_PROCESS_START_TIMESTAMP] = self->process.start_timestamp;
}
