// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_SERVICE_H
#define TOPDOWND_DAEMON_RUN_SERVICE_H

// The daemon itself: from the command line to the event loop, and back down in reverse.

#include "daemon/base/options.h"

// Measures and serves until SIGTERM or SIGINT. Returns the exit status: 0, 1 (failed while running), 2 (nothing
// started).
int service_run(const struct options *options);

#endif
