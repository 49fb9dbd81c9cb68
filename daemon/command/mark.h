// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_MARK_H
#define TOPDOWND_DAEMON_COMMAND_MARK_H

// `topdownd mark TEXT`: has the running daemon, through its control socket, note in its history that something has
// happened now, such as a deployment.

#include "daemon/base/options.h"

int mark_check(const struct options *options); // 0, or -EINVAL after printing why

// Returns exit status 0, or 1 with the reason on standard error.
int mark_run(const struct options *options);

#endif
