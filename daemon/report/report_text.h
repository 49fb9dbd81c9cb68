// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_TEXT_H
#define TOPDOWND_DAEMON_REPORT_REPORT_TEXT_H

// A report for people: level 1 as bars, what is below its dominant part, the metrics that lead on, the answer, and the
// next step.

#include "daemon/report/report_number.h"

struct report_text_request {
    const struct screen *screen;
    bool all;    // all metrics that were measured, not only those that the answer leads to
    bool counts; // of events too
    bool scopes; // more than the host
};

void report_text(const struct report *report, const struct report_text_request *request, struct text *out);

#endif
