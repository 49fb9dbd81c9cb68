// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_CSV_H
#define TOPDOWND_DAEMON_REPORT_REPORT_CSV_H

// Comma-separated values (RFC 4180): a row for each interval, scope and metric, then one for each event.

#include "daemon/report/report.h"

void report_csv_head(struct text *out);
void report_csv(const struct report *report, struct text *out);

#endif
