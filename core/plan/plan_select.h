// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_SELECT_H
#define TOPDOWND_CORE_PLAN_PLAN_SELECT_H

// Selects the metrics of a plan, and the events of each that stay together.

#include "core/plan/plan_draft.h"

// Sets the plan's metrics and their items; metrics that cannot be planned get a reason. 0, -ENOMEM, -E2BIG.
int plan_select(struct plan_draft *draft);

// Adds a metric of the catalog unless it is there. `selection` counts those of the request, then what is fetched; a
// weight of 0 is the default. Returns 0, -E2BIG.
int plan_select_metric(struct plan_draft *draft, unsigned metric, unsigned selection, unsigned weight, bool auxiliary);

// Adds the metrics that those from `first` on need. Returns 0, -E2BIG.
int plan_select_needed(struct plan_draft *draft, size_t first);

// Sets the plan's order of evaluation anew. Returns 0, -ENOMEM.
int plan_select_order(struct plan *plan);

#endif
