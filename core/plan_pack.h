// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PACK_H
#define TOPDOWND_CORE_PLAN_PACK_H

// Packs sets of events into the fewest bins that fit the counters.
//
// A set is never parted; sets in one bin share the events they have in common. Finding the fewest bins is NP-hard, so:
// a first packing puts each set where it adds the fewest events; then, while there are more bins than the events alone
// need, a bounded local search looks for a packing with one bin less. The result depends on the input alone.

#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"

enum { PLAN_PACK_EVENTS_MAX = PLAN_GROUP_EVENTS_MAX, PLAN_PACK_WORDS = PLAN_PACK_EVENTS_MAX / 64 };

struct plan_set {
    uint64_t words[PLAN_PACK_WORDS]; // bit per event
};

// `fixed` are the events with counters of their own; general_counters 0: no limit. Every set must fit alone. Writes
// each set's bin to bins[] and returns the number of bins, or -ENOMEM.
int plan_pack(const struct plan_set *sets, size_t n, const struct plan_set *fixed, unsigned general_counters,
              unsigned *bins);

#endif
