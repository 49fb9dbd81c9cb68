// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_COLUMNS_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_COLUMNS_H

// Columns of a log, and which of them perf counted together.
//
// A log does not name perf's event groups. Two things show them: events of one group run for the same time, and no
// group has an event twice. So a group ends where the running time changes. Where times say nothing (old versions of
// perf, counters for all), the events that repeat either begin each group (cycles,a,cycles,b) or end it
// (a,cycles,b,cycles): they do what the first or the last event of the log shows, or what makes more even groups.

#include "config/perf_log/perf_log.h"

// Sets the columns of the log's rows, and their groups. 0, -E2BIG if there are more columns than PERF_LOG_EVENTS_MAX,
// -ENOMEM.
int perf_log_make_columns(struct perf_log *log);

enum { PERF_LOG_CHOICES_MAX = 16 };

// For some of a log's events, a column each: those that counted together, or as close to that as there are.
struct perf_log_choices {
    size_t n_events, n;
    unsigned *columns; // [choice][event], the best choice first
};

// For catalog events `events`, the columns to take. column_event gives the catalog event of each column, -1: none.
// Every event has a column. 0, -ENOMEM.
int perf_log_choose_columns(const struct perf_log *log, const int *column_event, const unsigned *events,
                            size_t n_events, struct perf_log_choices *out);
void perf_log_choices_deinit(struct perf_log_choices *choices);

#endif
