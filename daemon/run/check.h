// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_CHECK_H
#define TOPDOWND_DAEMON_RUN_CHECK_H

// `topdownd check-config`, and what `run` refuses as well.

#include "core/base/error.h"
#include "daemon/base/options.h"
#include "daemon/source/setup.h"

// Checks the configuration and prints its effect on this host. Returns the exit status: 0 or 2.
int check_run(const struct options *options);

// Checks that a round of the configured profile ends within half a day, on the counters that the specs state. Returns
// 0, -EINVAL with the reason in `errors`, -ENOMEM or another negative errno.
int check_plans(const struct setup *setup, struct errors *errors);

#endif
