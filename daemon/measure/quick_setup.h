// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_QUICK_SETUP_H
#define TOPDOWND_DAEMON_MEASURE_QUICK_SETUP_H

// The set-up of a measurement by hand: that of the daemon, with rounds as short as the time asks for, and without what
// belongs to the service (its recording and its text file).

#include "core/base/error.h"
#include "daemon/source/setup.h"
#include "exporters/text/text.h"

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM or another negative errno. Free it with load_free.
int quick_setup_new(const struct options *options, struct errors *errors, struct setup **out);

// Appends the names of the metric groups in force, comma-separated.
void quick_setup_groups(const struct setup *setup, struct text *out);

#endif
