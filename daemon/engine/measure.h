// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_H

// Measures one core type of the host under the plan that fits now. The sampler, derive and the view belong to one plan
// and change together when the number of available counters changes. Totals continue.
//
// Measuring never assumes that a plan fits. It probes the number of counters at the start; again when an event group
// starves on every CPU, because another user has taken counters; and while there are fewer than before, to grow back;
// ever more rarely where nothing changes. A probe runs in steps like everything else, so that nothing has to wait.
//
// One table (daemon/engine/measure_table.h) defines what it does in each state. It reads no clock: time is an argument
// of every step.

#include "daemon/engine/engine.h"
#include "exporters/view/shown.h"

// With more CPUs than this, single ones have intervals only while somebody reads them. They take a third of what
// deriving a snapshot takes. Up to this number that is less than 0.4 ms, about what rendering a page takes.
enum { MEASURE_INTERVALS_CPUS = 256 };

struct measure_request {
    const struct setup *setup;
    struct core_type *type;
    struct self *self;          // the daemon's cost
    struct engine *first;       // the first core type's, which records what boxes count; NULL: this is it
    const struct shown *newest; // of all engines; NULL: not known
    uint64_t seed;              // of the schedule
    uint64_t now_ns;
};

// Starts measuring the type from `setup` (everything is borrowed) by probing for counters; the step that finds them
// makes the first plan. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM or another negative errno. `errors` is
// borrowed until there is a plan.
int measure_new(const struct measure_request *request, struct errors *errors, struct engine **out);

#endif
