// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_PRIVATE_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_PRIVATE_H

// Shared by the files of perf_log: perf_log_csv.c, perf_log_json.c and perf_log_table.c read a line, with or without a
// count, and perf_log.c builds a log from the lines.

#include <stdbool.h>

#include "config/perf_log/perf_log.h"

struct perf_log_line {
    uint64_t end_ns;                          // of a log of intervals
    const char *place, *event, *count, *unit; // of the line
    const char *share;                        // in per cent; NULL: not given
    bool share_of_all;                        // where it is not given, it ran all the time
    const char *running;                      // in ns; NULL: not given
    unsigned cpus;                            // that perf added up; 0: not given
};

// All return true if the line has a count: of an interval if the log is `timed`, else of a log without times. They
// write into the line.
bool perf_log_read_csv(char *line, bool timed, struct perf_log_line *out);
bool perf_log_read_json(const char *line, size_t length, bool timed, char *scratch, struct perf_log_line *out);
bool perf_log_read_table(char *line, bool timed, struct perf_log_line *out);

// True for the line of a table that says how long perf counted.
bool perf_log_read_elapsed(const char *line, uint64_t *ns);

// "12.345678901" to ns; false if it is not a time.
bool perf_log_time(const char *text, uint64_t *ns);

// Reads a number with a decimal point or comma, multiplied by `scale`; false if it is not a number.
bool perf_log_number(const char *text, double scale, double *out);

enum { PERF_LOG_LINE_MAX = 65536, PERF_LOG_SECONDS_MAX = 365 * 86400 };

#endif
