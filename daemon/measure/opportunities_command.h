// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_OPPORTUNITIES_COMMAND_H
#define TOPDOWND_DAEMON_MEASURE_OPPORTUNITIES_COMMAND_H

// `topdownd opportunities`: measures this host for a while, and says what each action could win at most.

#include "daemon/base/options.h"

int opportunities_command_check(const struct options *options);

// Returns the exit status, as measure_command_run does.
int opportunities_command_run(const struct options *options);

#endif
