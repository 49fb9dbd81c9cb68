// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_REMOTE_H
#define TOPDOWND_DAEMON_MEASURE_REMOTE_H

// What the daemon of this host measures, read from its pages: where it may not be asked to yield.

#include "daemon/measure/session.h"

// Returns as session_run, or -ECONNREFUSED if no page can be read: nothing has been told then.
int remote_run(const struct session_request *request, struct errors *errors);

#endif
