// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_YIELD_H
#define TOPDOWND_DAEMON_COMMAND_YIELD_H

// `topdownd yield`: asks the running daemon, through its control socket, to yield all counters or to take them back.

#include "daemon/base/options.h"

// Returns when the counters are free (or taken back). Returns exit status 0 with a message on standard output, or 1
// with the reason on standard error.
int yield_run(const struct options *options);

#endif
