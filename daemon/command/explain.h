// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_EXPLAIN_H
#define TOPDOWND_DAEMON_COMMAND_EXPLAIN_H

// `topdownd explain`: what would be measured here, how often, on which counters, at which cost, and what not and why,
// before anything is opened.

#include "daemon/base/options.h"

// Checks that the options are compatible: 0, or -EINVAL after printing why not.
int explain_check(const struct options *options);

// Returns the exit status: 0, or 2 for a wrong configuration.
int explain_run(const struct options *options);

#endif
