// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_PACK_H
#define TOPDOWND_CORE_PLAN_PLAN_PACK_H

// Packs sets of events into the fewest bins that fit the counters.
//
// A set is never split; sets in one bin share their common events. Finding the fewest bins is NP-hard. So a first
// packing puts each set where it adds the fewest events. Then, while there are more bins than the lower bound, a
// bounded local search looks for a packing with one bin less. The result depends only on the input. Without constrained
// events (fit_is_constrained) a bin's width is its number of events; otherwise core/plan/fit.h decides, and the number
// of questions to it is bounded too.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan/fit.h"
#include "core/plan/plan.h"

enum { PLAN_PACK_EVENTS_MAX = PLAN_GROUP_EVENTS_MAX, PLAN_PACK_WORDS = PLAN_PACK_EVENTS_MAX / 64 };

struct plan_set {
    uint64_t words[PLAN_PACK_WORDS]; // one bit per event
};

static inline bool plan_set_contains(const struct plan_set *outer, const struct plan_set *inner) {
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        if (inner->words[w] & ~outer->words[w])
            return false;
    return true;
}

// The work of the search, for tests and benchmarks.
struct plan_pack_work {
    uint64_t steps; // sets moved
    uint64_t fits;  // cost of questions to core/plan/fit.h: for each, the square of the bin's number of events
};
enum { PLAN_PACK_STEPS_MAX = 100000000, PLAN_PACK_FITS_MAX = 60000000 }; // per search; fits: plus one question

// needs[e] belongs to the event of bit e. Every set must fit alone. Writes each set's bin to bins[] and returns the
// number of bins, or -ENOMEM. `work` may be NULL.
int plan_pack(const struct plan_set *sets, size_t n, const struct fit_pmu *pmu, const struct event_need *needs,
              unsigned *bins, struct plan_pack_work *work);

// Sets that must not be packed with others (PLAN_FINDING_APART): sets[0 .. first - 1] are packed, into n_bins bins.
// Gives each set from `first` on a bin of its own, from n_bins on; a set that another one contains goes along with
// that.
void plan_pack_apart(const struct plan_set *sets, size_t first, size_t n, unsigned n_bins, unsigned *bins);

#endif
