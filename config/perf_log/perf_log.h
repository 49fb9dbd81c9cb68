// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_H

// Reads logs of `perf stat` of any version, with -x, with -j or as the table for people, with -I or without it, so that
// topdownd can derive its metrics from perf's counts.
//
// perf has already scaled its counts for multiplexing, so they represent their whole interval (tools/lib/perf/evsel.c,
// perf_counts_values__scale: count x enabled / running). An event that stands several times in an interval has a column
// for each time. Which columns counted together, perf_log_columns.h concludes. docs/recording.md describes the
// supported logs.

#include <stddef.h>
#include <stdint.h>

#include "config/perf_log/perf_names.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/recording/recording.h"
#include "core/spec/catalog.h"

enum {
    PERF_LOG_EVENTS_MAX = 4096,
    PERF_LOG_REPEATS_MAX = 256, // of one event in an interval and place; further ones are left out
    PERF_LOG_PLACES_MAX = 8192,
    PERF_LOG_ROWS_MAX = 1 << 24,
    PERF_LOG_NAME_MAX = 255,
    PERF_LOG_PMUS_MAX = 8
};

enum perf_log_state { PERF_LOG_COUNTED, PERF_LOG_NOT_COUNTED, PERF_LOG_NOT_SUPPORTED };

struct perf_log_row {
    uint64_t count;                // scaled by perf; for a clock: ns
    uint64_t running_ns;           // on the counters, added up over the place's CPUs; 0: not given
    double share;                  // share of the time that it ran, above 0, up to 1; NaN: the log does not say
    uint16_t event, column, place; // indexes
    uint16_t cpus;                 // that perf added up here, as it says; 0: it does not
    uint8_t state;                 // enum perf_log_state
};

// The n-th time that an event stands in an interval and place.
struct perf_log_column {
    unsigned event, nth;
    unsigned group; // columns of the same group counted at the same time, as far as the log shows
    int next;       // column of the same event and the next n; -1: none
};

struct perf_log_interval {
    uint64_t end_ns;      // since perf started
    size_t first, n_rows; // of rows
};

struct perf_log {
    char **events;
    size_t n_events;
    struct perf_log_column *columns; // in the order of their lines
    size_t n_columns;
    char **places; // perf's names of where it counted: "CPU3", "S0", "S0-D0-C1"; "" for all together
    size_t n_places;
    struct perf_log_row *rows;
    size_t n_rows;
    struct perf_log_interval *intervals;
    size_t n_intervals; // at least one
    size_t n_skipped;   // lines without a count
};

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM. The text must have a 0 after its end.
int perf_log_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_log **out);
struct perf_log *perf_log_free(struct perf_log *log);

struct perf_log_request {
    const char *name; // the log's file, for errors
    const struct perf_log *log;
    const struct catalog *catalog;
    const struct perf_names *names; // NULL: perf's own names are not known
    const char *pmu;                // of several core PMUs in the log the one whose events to take; NULL: there is one
    const struct plan_selection *selections;
    size_t n_selections;
};

// Appends the log to `out` as a plan and its rounds: an interval is a round, a place a CPU. Metrics of the selections
// with events that are not in the log are not plannable. 0; -EINVAL with the reason in `errors`, -ENOMEM.
int perf_log_record(const struct perf_log_request *request, struct errors *errors, struct recording_buffer *out);

#endif
