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

// A line for an interval, and the heading for all such lines. With `memory` it has a column for what the memory moves,
// which other reports tell: returns where in `out` that stands, REPORT_TEXT_MEMORY_WIDTH wide and unknown so far.
enum { REPORT_TEXT_MEMORY_WIDTH = 11 };
void report_text_head(const struct report *report, bool memory, struct text *out);
size_t report_text_line(const struct report *report, const struct screen *screen, bool memory, struct text *out);

#endif
