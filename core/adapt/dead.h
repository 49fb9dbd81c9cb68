// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_DEAD_H
#define TOPDOWND_CORE_ADAPT_DEAD_H

// Which events of metrics with alternatives are dead: they run and never count, though they must (core/counts/zeros.h).
// Some CPUs and virtual machines accept an event that they never count.
//
// An event whose 0 is true is not dead, and no definition gives way to another for it. An event that is dead stays so:
// plans without it do not look at it again. Whether a metric is believed meanwhile, core/tally/derive_metrics.h says.
//
// No clock and no I/O. The caller makes the plan that follows (core/plan/plan_alternative.h).

#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct dead;

// None is dead at first. The catalog is borrowed. Returns 0 or -ENOMEM.
int dead_new(const struct catalog *catalog, struct dead **out);
struct dead *dead_free(struct dead *dead); // returns NULL, takes NULL

// Takes the windows of one round or part of it. True if an event has just been found dead, so that another plan is due.
bool dead_round(struct dead *dead, const struct plan *plan, const struct readings *readings);

// By catalog event, for plan_request.dead; NULL for NULL.
const bool *dead_events(const struct dead *dead);

#endif
