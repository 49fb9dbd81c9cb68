// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_SELECT_H
#define TOPDOWND_CORE_PLAN_PLAN_SELECT_H

// Selects the metrics of a plan, and the events of each that stay together.

#include "core/plan/plan_draft.h"

// Sets the plan's metrics and their items; metrics that cannot be planned get a reason. 0, -ENOMEM, -E2BIG.
int plan_select(struct plan_draft *draft);

#endif
