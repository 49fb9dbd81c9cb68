// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_ROUND_H
#define TOPDOWND_CORE_PLAN_PLAN_ROUND_H

// For plan.c, which makes the units: turns units with their slots into a round.

#include "core/plan/plan.h"

// Snapshots more often than once a second would tell users no more.
#define PLAN_ROUND_NS_MIN UINT64_C(1000000000)

// Gives the level-1 unit slots until it has a third of the round, but no more than half of the slots.
void plan_give_level1_its_third(struct plan *plan, double idle);

// Sets the round's entries and times; a round in which nothing rotates lasts standing_ns. Returns 0 or -ENOMEM.
int plan_make_round(struct plan *plan, double idle, uint64_t standing_ns);

#endif
