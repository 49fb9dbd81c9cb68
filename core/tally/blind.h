// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_BLIND_H
#define TOPDOWND_CORE_TALLY_BLIND_H

// Whether anything is counted at all. A daemon is blind when what it is configured to count has not been counted for
// BLIND_INTERVALS snapshots in a row, or not once since it started. It runs, but it is not ready.
//
// Where event groups rotate, they alone tell: what needs no counter is counted on a host without rights, too. Where
// none rotates, as on a host without a PMU, the kernel's software events are what is to be counted. Counts of which
// none is believed (core/counts/zeros.h) are none: behind a filter of events every window is complete and 0.

#include <stdbool.h>

#include "core/tally/snapshot.h"

enum { BLIND_INTERVALS = 3 };

struct blind {
    bool pmu_up;        // something was counted in the last interval
    bool ever;          // or in one before
    unsigned intervals; // in a row in which nothing was; at most BLIND_INTERVALS
};

// A snapshot's interval has ended with these windows of the plan. One in which no slot has ended tells nothing.
// `snapshot` has the metrics' states; NULL: counts are believed.
void blind_interval(struct blind *blind, const struct plan *plan, const struct readings *readings,
                    const struct snapshot *snapshot);

// The counters are handed over on request: nothing is counted, which is not blindness.
void blind_excuse(struct blind *blind);

// `wanted`: there is something to count.
static inline bool blind_is(const struct blind *blind, bool wanted) {
    return wanted && (blind->intervals == BLIND_INTERVALS || (!blind->ever && blind->intervals > 0));
}

#endif
