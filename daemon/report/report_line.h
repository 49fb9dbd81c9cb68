// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_LINE_H
#define TOPDOWND_DAEMON_REPORT_REPORT_LINE_H

// A report of an interval as a line for people: the time, level 1 and instructions a cycle, and the verdict. A narrow
// terminal drops columns from the right until it has room for the verdict, but none of level 1 that fits; a verdict
// that is still too long goes on below. Where lines do not end at the screen's width, nothing is dropped.

#include "daemon/report/report_number.h"

// The names that a heading has above the columns; those of cores of another type may differ.
enum { REPORT_LINE_COLUMNS = 5, REPORT_LINE_NAME_MAX = 24 };
struct report_line_heading {
    char names[REPORT_LINE_COLUMNS][REPORT_LINE_NAME_MAX];
    size_t n;
};

// A line for an interval, and the heading for such lines, of which *heading has the names. With `memory` it has a
// column for what the memory moves, which other reports tell: returns where in `out` that stands,
// REPORT_LINE_MEMORY_WIDTH wide and unknown so far.
enum { REPORT_LINE_MEMORY_WIDTH = 11 };
void report_line_head(const struct report *report, const struct screen *screen, bool memory,
                      struct report_line_heading *heading, struct text *out);
size_t report_line(const struct report *report, const struct screen *screen, bool memory, struct text *out);

// True if another name than its own stands above a value of the line.
bool report_line_differs(const struct report *report, const struct screen *screen, bool memory,
                         const struct report_line_heading *heading);

// True if a value of the line has no interval, because there were too few rounds.
bool report_line_lacks_interval(const struct report *report);

#endif
