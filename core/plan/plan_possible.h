// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_POSSIBLE_H
#define TOPDOWND_CORE_PLAN_PLAN_POSSIBLE_H

// Whether a plan of this host could measure what the present one does not have: advice must not lead to metric groups
// that give nothing.
//
// A metric of the plan is possible if it is planned. Of another one no plan is made: its events must count here and fit
// the counters that the present plan has. So a few metrics that only a plan would refuse, such as those that the vendor
// parts while SMT is on, are taken for possible. For plans of CPUs, not of boxes, whose metrics may spread over groups.

#include "core/plan/plan.h"

bool plan_metric_possible(const struct plan *plan, unsigned metric);

// True if one of the group's metrics is possible.
bool plan_group_possible(const struct plan *plan, unsigned group);

#endif
