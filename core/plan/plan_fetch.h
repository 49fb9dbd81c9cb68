// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_FETCH_H
#define TOPDOWND_CORE_PLAN_PLAN_FETCH_H

// Adds what is fetched to a plan whose selections have their event groups already, and changes none of these.
//
// One metric after the other, in the order of the request: it goes into an event group that counts its events anyway,
// else where it adds the fewest events, else into a new event group. A metric that would need more event groups or
// events than the request allows is left out, with all that only it needs, and the next one is tried: a large one never
// keeps out a small one behind it. What is left out has no place in the plan.

#include "core/plan/plan_draft.h"

enum { PLAN_FETCHED_GROUPS_MAX = 64 }; // event groups at most, whatever the request allows

// Call it when the selections' units are there, and no others. Returns 0, -ENOMEM.
int plan_fetch(struct plan_draft *draft);

// The metric group to which most of the unit's metrics belong, for a unit that plan_fetch has made.
const char *plan_fetch_subject(const struct plan_draft *draft, unsigned unit);

// How many event groups of one slot's weight may be added to a plan, made with this share of idle time, so that every
// event group keeps at least a quarter of its share of a round, and the round lasts no longer than `round_ns`.
enum { PLAN_FETCHED_GROWTH_MAX = 4 };
unsigned plan_fetch_room(const struct plan *plan, double idle, uint64_t round_ns);

#endif
