// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_TASKS_RUN_H
#define TOPDOWND_DAEMON_MEASURE_TASKS_RUN_H

// Measures a command: its process and all that it starts, until it ends.

#include "daemon/measure/session.h"

// Returns the command's exit status, or 128 and the signal that ended it; 126 or 127 if it could not be started; 1 if
// nothing can be counted, after printing why: then it is not started. -EINVAL with the reason in `errors`, -ENOMEM or
// another negative errno.
int tasks_run(const struct session_request *request, struct errors *errors);

#endif
