// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_TURNS_H
#define TOPDOWND_CORE_PLAN_PLAN_TURNS_H

// How the kernel lets the event groups of a box (core/uncore/uncore.h) take turns where they exceed its counters, or
// need different values of a register: at each tick it begins with the next group, and puts groups on in their order
// until one does not fit (Linux, kernel/events/core.c: merge_sched_in, rotate_ctx).

#include "core/plan/plan.h"

// The share of time in which the metrics of a unit of boxes are on a box's counters while nobody else uses these; 1:
// all groups fit at once. A share below it is somebody else's doing. The plan is one of boxes.
double plan_turns_share(const struct plan *plan, unsigned unit);

#endif
