// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SELF_H
#define TOPDOWND_DAEMON_SELF_H

// What the daemon costs, measured by itself.

#include "collectors/host_linux.h"
#include "core/snapshot.h"

struct self {
    double collection_seconds;
    double rotations, rotation_seconds;
    double buckets[SELF_BUCKETS_N]; // cumulative, as in the exposition
    uint64_t step_begun_ns, step_cpu_ns;
};

// The clocks; daemon/ alone reads them.
uint64_t self_monotonic_ns(void);

// Around each step of the sampler.
void self_step_begin(struct self *self);
void self_step_end(struct self *self);

// Writes the self values of a snapshot.
void self_fill(const struct self *self, const struct host_roots *roots, bool pmu_up, struct snapshot *snapshot);

#endif
