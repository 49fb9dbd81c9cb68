// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_DIFF_H
#define TOPDOWND_DAEMON_COMMAND_DIFF_H

// `topdownd diff BEFORE AFTER`: what has changed between two recordings, or two stretches of one.

#include "daemon/base/options.h"

// Checks the words and options: 0, or -EINVAL after printing what is wrong.
int diff_check(const struct options *options);

// Returns the exit status: 0, 1 if less work is done than before, 2 if the recordings cannot be compared, or tell
// nothing of the work done.
int diff_run(const struct options *options);

#endif
