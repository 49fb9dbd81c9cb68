// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_DEEPER_H
#define TOPDOWND_DAEMON_MEASURE_DEEPER_H

// Follows the bottleneck: the metric groups that the dominant path leads to and that are not measured yet.

#include "daemon/measure/report.h"

// Appends ",GROUP" for each of them. False if there is none: no report has a path that stands out, or all that it leads
// to is measured.
bool deeper_groups(const struct report *reports, size_t n, struct text *out);

#endif
