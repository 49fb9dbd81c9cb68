// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_RESIDENT_H
#define TOPDOWND_CORE_RECORDING_RECORDING_RESIDENT_H

// Recordings of version 1, from before event groups were led by the PMU's topdown leader.
//
// On a PMU with topdown counters of its own, a resident event group counted in every slot beside the rotating ones. At
// each edge the sampler read it just before the group whose slot ended, so windows come in pairs, the resident group's
// first. Each of the two has its own result and, if the resident group was opened in the middle of a slot, its own
// times. Metrics of rotating groups took events from both.
//
// Such a plan is read as one whose common unit has an event group of its own without slots. A rotating group's window
// gets the counts of both windows (window->made): the resident group's counts scaled to the rotating group's time, and
// the smaller of the two shares of time on the counters.

#include <stdbool.h>

#include "core/tally/readings.h"

// Makes the unit of this event group the common one. False if the plan is malformed: the resident group must count the
// events that the units take from it.
bool recording_resident_plan(struct plan *plan, int group);

// True if the plan's windows come in pairs.
static inline bool recording_resident_pairs(const struct plan *plan) {
    return plan->common_unit >= 0 && plan->units[plan->common_unit].n_groups > 0;
}

// Fills in the joined counts of the rotating groups' windows. Returns 0, -ENOMEM, or -EBADMSG if there are too many.
int recording_resident_round(struct readings *readings, const struct plan *plan, size_t n_cpus);

#endif
