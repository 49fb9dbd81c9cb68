// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_MEASURE_H
#define TOPDOWND_DAEMON_RUN_MEASURE_H

// Measuring one type of the host's cores under the plan that fits now: the sampler, derive and the view belong to one
// plan, and change together when the counters that can be had do. Totals go on.
//
// Whether a plan fits is never assumed. The number of counters is probed at the start; again when an event group
// starves on every CPU, because someone has taken counters; and every minute while there are fewer than there were, to
// grow back. Looking for them takes steps like all else, so that nothing has to wait meanwhile.
//
// What it does when is one table (daemon/run/measure_table.h). It reads no clock: time is an argument of every step.

#include "daemon/run/engine.h"

struct measure_request {
    const struct setup *setup;
    struct core_type *type;
    struct self *self; // where the daemon's cost is kept
    uint64_t seed;     // of the schedule
    uint64_t now_ns;
};

// Takes what `setup` knows of the type (all is borrowed), and begins to look for counters; the first plan is made in
// the step that has found them. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM or another negative errno.
// `errors` is borrowed until there is a plan.
int measure_new(const struct measure_request *request, struct errors *errors, struct engine **out);

#endif
