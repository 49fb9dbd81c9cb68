// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_MEMORY_H
#define TOPDOWND_DAEMON_COMMAND_MEMORY_H

// `topdownd memory [save]`: how fast each socket's memory can be; `save`, as root, leaves the speed of a channel for
// the service, which cannot read it.

#include "daemon/base/options.h"

// Checks the command's word: 0, or -EINVAL after printing why not.
int memory_check(const struct options *options);

// Returns the exit status.
int memory_run(const struct options *options);

#endif
