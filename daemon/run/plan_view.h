// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_PLAN_VIEW_H
#define TOPDOWND_DAEMON_RUN_PLAN_VIEW_H

// What pages would show of a plan that is not in force: before anything has been opened.

#include "daemon/source/setup.h"
#include "exporters/view/view.h"

// A view of the core type's plan for the counters that its spec states. Takes the plan, also on failure. NULL if out of
// memory.
struct view *plan_view_new(const struct setup *setup, const struct core_type *type, struct plan *plan);

#endif
