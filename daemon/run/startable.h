// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_STARTABLE_H
#define TOPDOWND_DAEMON_RUN_STARTABLE_H

// What a configuration must keep beside being right: check-config, `run` and a reload refuse the same.

#include "core/base/error.h"
#include "daemon/source/setup.h"

// Makes the plan of each core type for the counters that its spec states, and checks that a round ends within half a
// day. A replay has a plan already, and gets none. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM or another
// negative errno. Free the plans in every case.
int startable_make_plans(const struct setup *setup, struct errors *errors, struct plan *plans[SETUP_TYPES_MAX]);
void startable_free_plans(struct plan *plans[SETUP_TYPES_MAX]);

// The same without the plans.
int startable_check(const struct setup *setup, struct errors *errors);

#endif
