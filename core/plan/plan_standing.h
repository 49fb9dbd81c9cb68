// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_STANDING_H
#define TOPDOWND_CORE_PLAN_PLAN_STANDING_H

// For plan.c: the units whose events count all the time.
//
// What needs no counter is one event group. Events of boxes (core/uncore/uncore.h) do need counters, but nobody rotates
// them: they are packed into event groups that each fit a box, and all groups are on all the time. Where the groups
// together need more than the box has, the kernel lets them take turns, and their counts are scaled by their times like
// those of any window that shared its counters. Traffic is a sum of events, each scaled by its own times, so a metric
// of traffic that exceeds a box's counters alone is spread over several groups of one unit.

#include "core/plan/plan_draft.h"

// Appends the units, each with its event groups, after all others. Returns 0, -ENOMEM, -E2BIG.
int plan_standing_append(struct plan_draft *draft);

// True if the events of a metric that stands may be spread over several event groups.
bool plan_standing_spreads(const struct plan_draft *draft, unsigned metric, const struct plan_set *set);

#endif
