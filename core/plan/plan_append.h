// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_APPEND_H
#define TOPDOWND_CORE_PLAN_PLAN_APPEND_H

// For plan.c and plan_standing.c: adds units and event groups to the plan in the making.

#include "core/plan/plan_draft.h"

// Sorts catalog events, ascending.
void plan_sort_events(unsigned *events, size_t n);

// Appends a unit for the set; its event groups follow. Returns its number or -ENOMEM.
int plan_append_unit(struct plan_draft *draft, const struct plan_set *set);

// Appends an event group of the unit. One that rotates also begins with the events that every such group carries.
// Returns 0, -ENOMEM, -E2BIG.
int plan_append_group(struct plan_draft *draft, unsigned unit, const struct plan_set *set);

#endif
