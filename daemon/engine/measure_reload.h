// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_RELOAD_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_RELOAD_H

// Measuring goes on under another set-up: what a reload of the configuration leads to.
//
// Everything that can fail is done before anything changes. Totals, verdicts and decisions continue, and so do the PMU
// and the event groups that both plans have, where the source is what it was. Where it is not (another spec, other
// events), the PMU begins anew and totals continue by name.

#include "daemon/engine/measure_plan.h"

// As engine_ops.prepare and .abandon.
int measure_prepare(struct measure *m, const struct engine_change *change, struct errors *errors);
void measure_abandon(struct measure *m);

// Puts what was prepared into force, with no event group started yet.
void measure_take_over(struct measure *m);

// What measuring records to, from a prepared change on if there is one; NULL: nothing.
struct record *measure_record(const struct measure *m);

#endif
