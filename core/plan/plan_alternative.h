// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_ALTERNATIVE_H
#define TOPDOWND_CORE_PLAN_PLAN_ALTERNATIVE_H

// A metric may have alternatives: other definitions under the same exported name, for hosts on which an event of it is
// missing or dead: the spec knows it (catalog_event.known_dead), or it runs and never counts (core/adapt/dead.h). A
// plan has the first of them whose events are neither.
//
// Only events decide, never how many counters are free: a definition that came and went with the counters would mix its
// totals with another one's. An event that is dead has never counted, so a definition that gives way has no totals.

#include "core/plan/plan.h"

// The metric that a plan has for `metric`: itself, or one of its alternatives. If none can be counted, itself.
// `support`: enum plan_support by event; `dead`: by event, NULL: none is.
unsigned plan_alternative_choose(const struct catalog *catalog, unsigned metric, const uint8_t *support,
                                 const bool *dead);

// Sets the plan's place of its metric `index`, also by the name under which others know it.
void plan_alternative_place(struct plan *plan, unsigned index);

#endif
