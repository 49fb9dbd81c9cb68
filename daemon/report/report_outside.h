// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_OUTSIDE_H
#define TOPDOWND_DAEMON_REPORT_REPORT_OUTSIDE_H

// The reports of PMUs outside the cores for people. They are told together: what passed through memory, caches and
// links, how long reads took, and a table of all else that was measured.

#include "daemon/report/report_number.h"

struct report_outside {
    const struct report *reports;
    size_t n;
    const struct screen *screen;
    bool sockets; // each by itself, too
};

void report_outside(const struct report_outside *outside, struct text *out);

#endif
