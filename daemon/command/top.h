// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_TOP_H
#define TOPDOWND_DAEMON_COMMAND_TOP_H

// `topdownd top`: shows a host in the terminal. What draws is another program, topdownd-top, so that this one needs
// no library for terminals; it reads the pages of a daemon. Where there is none to read, this one starts a process
// that measures or replays for the view alone, on a port of 127.0.0.1 that only the two know of.

#include "daemon/base/options.h"

int top_check(const struct options *options);
int top_run(const struct options *options); // returns only if the view could not be started

#endif
