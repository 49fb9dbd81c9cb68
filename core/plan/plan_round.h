// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_ROUND_H
#define TOPDOWND_CORE_PLAN_PLAN_ROUND_H

// From units with their slots to a round: for plan.c, which makes the units.

#include "core/plan/plan.h"

// A snapshot more often than once a second tells nobody more.
#define PLAN_ROUND_NS_MIN UINT64_C(1000000000)

// Gives the level-1 unit slots until it has a third of the round, but no more than half of the slots.
void plan_give_level1_its_third(struct plan *plan, double idle);

// Sets the round's entries and times. Returns 0 or -ENOMEM.
int plan_make_round(struct plan *plan, double idle);

#endif
