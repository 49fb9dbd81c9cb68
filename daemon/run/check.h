// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_CHECK_H
#define TOPDOWND_DAEMON_RUN_CHECK_H

// `topdownd check-config`.

#include "daemon/base/options.h"

// Checks the configuration and prints its effect on this host. Returns the exit status: 0 or 2.
int check_run(const struct options *options);

#endif
