// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_RESIDENT_H
#define TOPDOWND_CORE_RECORDING_RECORDING_RESIDENT_H

// Recordings of version 1, from before event groups were led by the PMU's topdown leader.
//
// Where the PMU has topdown counters of its own, a resident event group counted in every slot beside the rotating ones.
// At each edge it was read just before the group whose slot ended: so windows stand in pairs, the resident group's
// first. The two have results of their own, and where the resident group was opened in the middle of a slot, times of
// their own. Metrics of rotating groups took events from both.
//
// Such a plan is read as one with a common unit that has an event group of its own, which has no slots. A rotating
// group's window gets what the two windows counted together (window->made): the resident group's counts brought to the
// rotating group's time, and the lesser of the two shares of time on the counters.

#include <stdbool.h>

#include "core/tally/readings.h"

// Makes the unit of this event group the common one. False where the plan is not well-formed: what the units take from
// the resident group must be in it.
bool recording_resident_plan(struct plan *plan, int group);

// True where the plan's windows stand in pairs.
static inline bool recording_resident_pairs(const struct plan *plan) {
    return plan->common_unit >= 0 && plan->units[plan->common_unit].n_groups > 0;
}

// Fills in what the windows of rotating groups are made of. Returns 0, -ENOMEM, or
// -EBADMSG where there are too many.
int recording_resident_round(struct readings *readings, const struct plan *plan, size_t n_cpus);

#endif
