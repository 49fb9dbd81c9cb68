// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_COMMAND_RELOAD_H
#define TOPDOWND_DAEMON_COMMAND_COMMAND_RELOAD_H

// `topdownd reload`: has the running daemon read its configuration again, and waits until it is in force.

#include "daemon/base/options.h"

// Returns the exit status: 0; 1 if no daemon answers; 2 if the configuration is wrong, after printing its mistakes.
int command_reload(const struct options *options);

#endif
