// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/self.h"

#include <math.h>

static uint64_t monotonic_ns(const struct self *self) { return self->clocks->monotonic_ns(self->clocks->context); }
static uint64_t thread_cpu_ns(const struct self *self) { return self->clocks->thread_cpu_ns(self->clocks->context); }

double self_realtime_seconds(const struct self *self) { return self->clocks->realtime_seconds(self->clocks->context); }

void self_note_counted(struct self *self) { self->counted = true; }

void self_init(struct self *self, const struct clocks *clocks, size_t n_cpus, uint64_t now_ns) {
    *self = (struct self){.clocks = clocks, .status = status_unknown};
    self->status.known = true;
    self->counted_seconds = self_realtime_seconds(self);
    budget_init(&self->budget, n_cpus, (double)now_ns * 1e-9, (struct budget_cost){0});
    self_note_config(self, true);
}

void self_measure_cpus(struct self *self, size_t n_cpus) { self->budget.allowed = budget_allowed(n_cpus); }

void self_note_config(struct self *self, bool successful) {
    self->status.config.successful = successful;
    if (successful)
        self->status.config.success_seconds = self_realtime_seconds(self);
}

static struct budget_cost cost_of(const struct self *self) {
    double all_seconds = self->status.cost.collection_seconds + self->status.cost.interrupt_seconds;
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
    self->status.cost.collection_seconds += cpu_seconds;
    self->status.cost.calls += calls;
    self->status.cost.interrupts += interrupts;
    self->status.cost.interrupt_seconds += interrupt_seconds;
    return cpu_seconds + interrupt_seconds;
}

// The part of a step's CPU time that steps usually take.
static double usual_part(struct self *self, double seconds) {
    double usual = self->usual_seconds;
    double part = usual > 0 ? fmin(seconds, UNUSUAL_TIMES * usual) : seconds;
    self->usual_seconds = usual > 0 ? usual + (part - usual) / USUAL_STEPS : part;
    return part;
}

void self_step_end(struct self *self, uint64_t calls, uint64_t interrupts) {
    double seconds = (double)(monotonic_ns(self) - self->step_begun_ns) * 1e-9;
    double cpu_seconds = step_seconds(self), usual_seconds = calls > 0 ? usual_part(self, cpu_seconds) : cpu_seconds;
    (void)charge(self, cpu_seconds, usual_seconds, calls, interrupts);
    self->change_seconds += cpu_seconds - usual_seconds;
    if (calls == 0)
        return; // nothing was due
    self->status.rotations.n++;
    self->status.rotations.seconds += seconds;
    for (size_t i = 0; i < STATUS_BUCKETS_N; i++)
        self->status.rotations.within[i] += seconds <= status_rotation_bounds[i];
}

void self_change_end(struct self *self, uint64_t calls, uint64_t interrupts) {
    double cpu_seconds = step_seconds(self);
    self->change_seconds += charge(self, cpu_seconds, cpu_seconds, calls, interrupts);
}

void self_fill(struct self *self, const struct host_roots *roots, struct snapshot *snapshot) {
    host_linux_process(roots, &self->process, &self->status.process);
    self->status.cost.budget_used = self->budget.used;
    if (snapshot->sequence > 0) {
        double now_seconds = self_realtime_seconds(self);
        if (self->counted)
            self->counted_seconds = now_seconds;
        self->counted = false;
        snapshot->taken_seconds = now_seconds;
        snapshot->engine.counted_seconds = self->counted_seconds;
    }
    snapshot->status = self->status;
    snapshot->status.config.successful = self->status.config.successful && !self->web_refused;
}
