// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_NUMBER_H
#define TOPDOWND_DAEMON_REPORT_REPORT_NUMBER_H

// Numbers of a report as people read them.

#include "daemon/report/report.h"

// What an output can show.
struct screen {
    int width; // columns
    bool ends; // a terminal, whose lines end there; else longer lines hurt nobody
    bool colour;
    bool utf8; // else ASCII
};

enum { REPORT_NUMBER_MAX = 48, REPORT_NUMBER_DIGITS = 4, REPORT_NUMBER_DIGITS_OF_INTERVAL = 2 };

// Writes a number of so many digits that count, and never with an exponent. Returns its width.
int report_number_write(char out[static REPORT_NUMBER_MAX], double value, int digits);

// True for a metric that is shown in per cent.
bool report_number_is_share(const struct catalog_metric *metric);

const char *report_number_plus_minus(const struct screen *screen);

// Appends the value, and half of its interval where it has one: "12.3 % ±0.2". Returns its width on the screen.
int report_number_put(const struct report_row *row, const struct screen *screen, struct text *out);

#endif
