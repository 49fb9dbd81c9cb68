// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_BOTTLENECKS_H
#define TOPDOWND_DAEMON_REPORT_REPORT_BOTTLENECKS_H

// What would help how much on a report's host (core/diagnosis/bottlenecks.h), for people.

#include "daemon/report/report_number.h"

// Nothing where only level 1 and its parts are measured: the tree says the same.
void report_bottlenecks(const struct report *report, const struct screen *screen, struct text *out);

#endif
