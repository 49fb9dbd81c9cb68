// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_FIT_H
#define TOPDOWND_CORE_PLAN_PLAN_FIT_H

// For plan.c: what a plan's events need from the counters, and messages that explain why some do not fit.

#include "core/plan/plan.h"

// Sets plan->needs and plan->pmu. Returns 0 or -ENOMEM.
int plan_fit_init(struct plan *plan, const struct plan_request *request);

// Writes why events do not fit; `why` has catalog events. `level1`: they belong to the level-1 categories.
void plan_fit_explain(const struct plan_request *request, const struct fit_reason *why, bool level1, char *out,
                      size_t size);

#endif
