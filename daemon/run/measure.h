// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_MEASURE_H
#define TOPDOWND_DAEMON_RUN_MEASURE_H

// Measuring one type of the host's cores under the plan that fits now: the sampler, derive and the view belong to one
// plan, and change together when the counters that can be had do. Totals go on.
//
// Whether a plan fits is never assumed. The number of counters is probed at the start; again when an event group
// starves on every CPU, because someone has taken counters; and every minute while there are fewer than there were, to
// grow back. Looking for them takes steps like all else, so that nothing has to wait meanwhile.

#include <stdint.h>

#include "core/base/error.h"
#include "daemon/base/self.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct measure;

// Takes what `setup` knows of the type, and where the daemon's cost is kept (all borrowed), and begins to look for
// counters; the first plan is made in the step that has found them. Returns 0, -EINVAL with the reason in `errors`,
// -ENOMEM or another negative errno. `errors` is borrowed until there is a plan.
int measure_new(const struct setup *setup, struct core_type *type, struct self *self, struct errors *errors,
                struct measure **out);
struct measure *measure_free(struct measure *measure);

// Does what is due; *deadline_ns is when to come again. Where a round has ended, *out is its snapshot, a reference of
// the caller's; else NULL. Returns 0 or a negative errno that ends the daemon: -EINVAL with the reason in the errors of
// measure_new where there is no first plan, else memory.
int measure_step(struct measure *measure, uint64_t *deadline_ns, struct snapshot **out);

// From here on: once there is a view.

// A snapshot of the totals as they are, without gauges: before the first round, and while the counters are handed over.
struct snapshot *measure_snapshot(struct measure *measure);

// Hands all counters over for `seconds`, at once: when it returns they are free. Called again: the new time counts; 0
// takes them back in the next step.
void measure_yield(struct measure *measure, double seconds);

// The view of the present plan; and of the snapshot that the last step has given; borrowed until the next step. NULL
// before there is a plan.
struct view *measure_view(const struct measure *measure);

#endif
