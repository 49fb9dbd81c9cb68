// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_FIT_H
#define TOPDOWND_CORE_PLAN_PLAN_FIT_H

// What a plan's events need of the counters, and why some do not fit, in words: for plan.c.

#include "core/plan/plan.h"

// Sets plan->needs and plan->pmu. Returns 0 or -ENOMEM.
int plan_fit_init(struct plan *plan, const struct plan_request *request);

// Writes why events do not fit; `why` names events of the catalog. `level1`: they are those of the level-1 categories.
void plan_fit_explain(const struct plan_request *request, const struct fit_reason *why, bool level1, char *out,
                      size_t size);

#endif
