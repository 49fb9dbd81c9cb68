// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_LEAD_H
#define TOPDOWND_CORE_PLAN_PLAN_LEAD_H

// What every event group carries on a PMU with topdown counters of its own, for plan.c.
//
// The kernel counts the fields of PERF_METRICS only in a group that `slots` leads. So the leader leads every group, and
// each carries the level-1 fields, cycles and instructions: with the metrics that need no more, level 1 counts in every
// slot. What else of the list (level-2 fields, an event that takes a general counter) only metrics of the group need is
// in that group alone.

#include "core/plan/plan_draft.h"

// Sets aside the counters that the list needs, and draft->led. It needs its leader and room; without these its events
// are like any others, but for those that take no counter (plan_select.c).
void plan_lead_set_aside(struct plan_draft *draft);

// When the items are there: sets draft->carried, which stays empty where no metric needs an event of the list.
void plan_lead_choose(struct plan_draft *draft);

// True where the event's place in a group is among the first.
static inline bool plan_lead_has(const struct plan_draft *draft, unsigned event) {
    return draft->led && draft->catalog->events[event].topdown;
}

// Writes the events that the group of this set begins with, the leader first. Returns how many, at most
// CATALOG_TOPDOWN_MAX.
size_t plan_lead_begin(const struct plan_draft *draft, const struct plan_set *set, unsigned *events);

#endif
