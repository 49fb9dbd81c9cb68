// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_LEAD_H
#define TOPDOWND_CORE_PLAN_PLAN_LEAD_H

// For plan.c: chooses the events that every event group carries on a PMU with topdown counters of its own.
//
// The kernel counts the fields of PERF_METRICS only in a group that `slots` leads. So this leader leads every group,
// and each group carries the level-1 fields, cycles and instructions: level 1 and other metrics that need no more count
// in every slot. The list's other events (level-2 fields, an event that takes a general counter) are only in groups
// whose metrics need them.

#include "core/plan/plan_draft.h"

// Sets aside the counters that the list needs, and sets draft->led. The list needs its leader and room. Without these
// its events are treated like any others, except those that take no counter (plan_draft.c).
void plan_lead_set_aside(struct plan_draft *draft);

// Sets draft->carried once the items exist. It stays empty if no metric needs an event of the list.
void plan_lead_choose(struct plan_draft *draft);

// True if the event belongs at the beginning of a group.
static inline bool plan_lead_has(const struct plan_draft *draft, unsigned event) {
    return draft->led && draft->catalog->events[event].topdown;
}

// Writes the events that the group of this set begins with, the leader first. Returns their number, at most
// CATALOG_TOPDOWN_MAX.
size_t plan_lead_begin(const struct plan_draft *draft, const struct plan_set *set, unsigned *events);

#endif
