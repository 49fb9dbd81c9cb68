// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_DEAD_H
#define TOPDOWND_CORE_ADAPT_DEAD_H

// Which events of metrics with alternatives are dead: they run, and never count while the events beside them do. Some
// CPUs and virtual machines accept an event that they never count.
//
// An event that happens rarely is not dead, so it takes many counts of others, DEAD_BESIDE: a metric of which this many
// cycles hold not one event is 0 for all purposes. Whether a metric is believed meanwhile is for
// core/tally/derive_metrics.h to say. An event that is dead stays so: plans without it do not look at it again.
//
// No clock and no I/O. The caller makes the plan that follows (core/plan/plan_alternative.h).

#include "core/plan/plan.h"
#include "core/tally/readings.h"

#define DEAD_BESIDE UINT64_C(1000000000)

struct dead;

// None is dead at first. The catalog is borrowed. Returns 0 or -ENOMEM.
int dead_new(const struct catalog *catalog, struct dead **out);
struct dead *dead_free(struct dead *dead); // returns NULL, takes NULL

// Takes the windows of one round or part of it. True if an event has just been found dead, so that another plan is due.
bool dead_round(struct dead *dead, const struct plan *plan, const struct readings *readings);

// By catalog event, for plan_request.dead; NULL for NULL.
const bool *dead_events(const struct dead *dead);

#endif
