// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_PLAN_VIEW_H
#define TOPDOWND_DAEMON_ENGINE_PLAN_VIEW_H

// What pages show of a plan before anything has been opened, which a running engine adds to (daemon/engine/stage.h).

#include "daemon/source/setup.h"
#include "exporters/view/view.h"

// The facts of a plan that its set-up and the type's source know, all borrowed: counters as the spec states them, and
// no interval, as nothing is measured.
struct view plan_view_facts(const struct setup *setup, const struct core_type *type, struct snapshot_layout *layout);

// A view of a plan that is not in force. Takes the plan, also on failure. NULL if out of memory.
struct view *plan_view_new(const struct setup *setup, const struct core_type *type, struct plan *plan);

#endif
