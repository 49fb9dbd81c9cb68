// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_PACK_H
#define TOPDOWND_CORE_PLAN_PLAN_PACK_H

// Packs sets of events into the fewest bins that fit the counters.
//
// A set is never parted; sets in one bin share the events they have in common. Finding the fewest bins is NP-hard, so:
// a first packing puts each set where it adds the fewest events; then, while there are more bins than the events alone
// need, a bounded local search looks for a packing with one bin less. The result depends on the input alone. Where no
// event asks for more than any one counter, bins are only as wide as their events are many; elsewhere core/plan/fit.h
// decides, and how often it may be asked is bounded too.

#include <stddef.h>
#include <stdint.h>

#include "core/plan/fit.h"
#include "core/plan/plan.h"

enum { PLAN_PACK_EVENTS_MAX = PLAN_GROUP_EVENTS_MAX, PLAN_PACK_WORDS = PLAN_PACK_EVENTS_MAX / 64 };

struct plan_set {
    uint64_t words[PLAN_PACK_WORDS]; // bit per event
};

// What the search did, for tests and benchmarks.
struct plan_pack_work {
    uint64_t steps; // sets that were moved
    uint64_t fits;  // what asking core/plan/fit.h cost: for each question the square of the events in the bin
};
enum { PLAN_PACK_STEPS_MAX = 100000000, PLAN_PACK_FITS_MAX = 60000000 }; // of one search; fits may be one question more

// needs[e] is what the event of bit e asks for. Every set must fit alone. Writes each set's bin to bins[] and returns
// the number of bins, or -ENOMEM. `work` may be NULL.
int plan_pack(const struct plan_set *sets, size_t n, const struct fit_pmu *pmu, const struct event_need *needs,
              unsigned *bins, struct plan_pack_work *work);

#endif
