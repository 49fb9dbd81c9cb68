// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_DOCTOR_DOCTOR_H
#define TOPDOWND_DAEMON_DOCTOR_DOCTOR_H

// `topdownd doctor`: is this host fit to be measured, and if not, what can be done about it? It changes nothing.

#include "daemon/base/options.h"

// Checks that the options are compatible: 0, or -EINVAL after printing why not.
int doctor_check(const struct options *options);

// Returns the exit status: 0, 1 if something keeps topdownd from measuring, 2 for a wrong configuration.
int doctor_run(const struct options *options);

#endif
