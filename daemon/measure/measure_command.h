// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_MEASURE_COMMAND_H
#define TOPDOWND_DAEMON_MEASURE_MEASURE_COMMAND_H

// `topdownd measure`: measures this host, or a command, for a while, and says what it was bound by.

#include "daemon/base/options.h"

int measure_command_check(const struct options *options);

// Returns the exit status: 0; 1 if nothing could be measured; 2 if options, configuration or environment are wrong; of
// a command its own, 128 and the signal that ended it, 126 if it cannot be started, or 127 if it does not exist.
int measure_command_run(const struct options *options);

#endif
