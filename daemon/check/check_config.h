// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_CHECK_CHECK_CONFIG_H
#define TOPDOWND_DAEMON_CHECK_CHECK_CONFIG_H

// `topdownd check-config`: all mistakes of a configuration at once, what it means for this host or another, and what in
// it is unwise. It starts nothing.

#include "daemon/base/options.h"

// Checks that the file is named once: 0, or -EINVAL after printing why not.
int check_config_check(const struct options *options);

// Returns the exit status: 0; 1 if --strict is given and something is unwise; 2 if there is a mistake.
int check_config_run(const struct options *options);

#endif
