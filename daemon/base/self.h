// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_SELF_H
#define TOPDOWND_DAEMON_BASE_SELF_H

// What the daemon costs, measured by itself: all core types together, and against one budget.

#include "collectors/host/host_linux.h"
#include "core/adapt/budget.h"
#include "core/tally/snapshot.h"
#include "daemon/base/clocks.h"

struct self {
    const struct clocks *clocks; // borrowed
    uint64_t calls, interrupts;  // to the PMU; of other CPUs
    double collection_seconds;
    double interrupt_seconds; // taken from other CPUs, estimated
    double rotations, rotation_seconds;
    double buckets[SELF_BUCKETS_N]; // cumulative, as in the exposition
    uint64_t step_begun_ns, step_cpu_ns;
    struct host_process process;
    struct budget budget;
};

// So many CPUs are measured, from now_ns on. `clocks` are borrowed.
void self_init(struct self *self, const struct clocks *clocks, size_t n_cpus, uint64_t now_ns);

double self_realtime_seconds(const struct self *self); // since the epoch

// Holds the cost against the budget. True where slots are to have another length from now on.
bool self_follow_budget(struct self *self, uint64_t now_ns);

// Around each step of the sampler.
void self_step_begin(struct self *self);
// `calls` to the PMU were made in the step, and `interrupts` of other CPUs by them: each is taken to have cost its CPU
// as much as a call cost here.
void self_step_end(struct self *self, uint64_t calls, uint64_t interrupts);

// Writes the self values of a snapshot. pmu_up: 1, 0, or NaN where the PMU is not asked for anything.
void self_fill(struct self *self, const struct host_roots *roots, double pmu_up, struct snapshot *snapshot);

#endif
