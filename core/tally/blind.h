// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_BLIND_H
#define TOPDOWND_CORE_TALLY_BLIND_H

// Whether anything is counted at all. A daemon whose hardware event groups have all counted nothing for
// BLIND_INTERVALS snapshots in a row is blind: it runs, but it is not ready.

#include <stdbool.h>

#include "core/tally/snapshot.h"

enum { BLIND_INTERVALS = 3 };

struct blind {
    bool pmu_up;        // something was counted in the last interval
    unsigned intervals; // in a row in which nothing was; at most BLIND_INTERVALS
};

// A snapshot's interval has ended with these windows of the plan. One in which no slot has ended tells nothing.
void blind_interval(struct blind *blind, const struct plan *plan, const struct readings *readings);

// The counters are handed over on request: nothing is counted, which is not blindness.
void blind_excuse(struct blind *blind);

// `hardware`: there are metric groups to measure that take counters.
static inline bool blind_is(const struct blind *blind, bool hardware) {
    return hardware && blind->intervals == BLIND_INTERVALS;
}

#endif
