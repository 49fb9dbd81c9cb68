// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_OUTPUT_H
#define TOPDOWND_DAEMON_MEASURE_OUTPUT_H

// Where a measurement is told: as text, JSON or CSV, as time goes by.

#include "daemon/base/options.h"
#include "daemon/base/terminal.h"
#include "daemon/report/report.h"
#include "daemon/report/report_line.h"
#include "daemon/report/report_text.h"
#include "daemon/source/setup.h"
#include "exporters/text/json_writer.h"

struct output {
    const struct options *options;
    enum report_scope finest;
    struct screen screen;
    struct terminal_progress progress;
    struct text text; // not written yet
    struct json json;
    bool begun, headed, told_longer;
    struct report_line_heading heading;             // of the last lines, if headed
    bool lines_lack_intervals;                      // some line of an interval has a value without one
    struct output_held {                            // lines of intervals that wait for what the memory moved meanwhile
        size_t at[SOURCE_TYPES_MAX];                // where in the text
        const struct catalog *of[SOURCE_TYPES_MAX]; // the core type
        size_t n, n_told;                           // lines; kinds of PMUs that have told
        double bytes;                               // a second, of those
        double told_bytes, told_seconds;            // of the last interval that all of them have told, and its end
    } held;
    int status; // of writing: 0, TERMINAL_LOST or a negative errno
};

// What it is of.
struct output_head {
    const char *hostname, *how; // see daemon/report/report_json.h
    bool simulated;
    size_t n_memory; // kinds of PMUs outside the cores that measure memory: lines of intervals have a column for it
};

void output_init(struct output *output, const struct options *options);

// The reports of one interval of a core type, then of the whole time of each. Begins where nothing has been told yet.
void output_interval(struct output *output, const struct output_head *head, const struct report *report);
void output_whole(struct output *output, const struct output_head *head, const struct report *reports, size_t n);

// How far it is, in place of intervals; total_seconds 0: nobody knows.
void output_progress(struct output *output, double seconds, double total_seconds);

// Writes the rest. `status` of the command; -1: there was none. Returns 0, TERMINAL_LOST or a negative errno.
int output_end(struct output *output, int status);

#endif
