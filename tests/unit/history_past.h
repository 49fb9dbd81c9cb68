// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_HISTORY_PAST_H
#define TOPDOWND_TESTS_UNIT_HISTORY_PAST_H

// A history, and the snapshots that it takes in, for tests. Include it after cmocka.h.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/history/history.h"
#include "exporter_host.h"

static const uint64_t SECOND_NS = 1000000000;

struct past {
    struct exporter_host host;
    struct history *history;
    struct snapshot *snapshot;
    double wall_offset; // in seconds
};

static inline void begin_with(struct past *past, size_t series_max) {
    *past = (struct past){.wall_offset = 1.7e9};
    host_init(&past->host);
    past->history = history_new(series_max);
    past->snapshot = snapshot_new(past->host.layout);
    assert_non_null(past->history);
    assert_non_null(past->snapshot);
    past->snapshot->end_ns = 1000000 * SECOND_NS; // at the beginning of a short step, 100 s into a long one
}

static inline void begin(struct past *past) { begin_with(past, HISTORY_SERIES_MAX); }

static inline void end(struct past *past) {
    history_free(past->history);
    snapshot_unref(past->snapshot);
    host_deinit(&past->host);
}

// The branch misses and instructions so far, in one scope.
static inline void set_branches(struct past *past, size_t scope, double misses, double instructions) {
    size_t metric = host_metric(&past->host, "branch_mpki");
    past->snapshot->values[snapshot_numerator(past->host.layout, scope, metric)] = misses;
    past->snapshot->values[snapshot_denominator(past->host.layout, scope, metric)] = instructions;
}

static inline void set_gauge(struct past *past, size_t scope, const char *metric, double value) {
    past->snapshot->values[snapshot_metric(past->host.layout, scope, host_metric(&past->host, metric))] = value;
}

static inline void take_after(struct past *past, double seconds) {
    past->snapshot->start_ns = past->snapshot->end_ns;
    past->snapshot->end_ns += (uint64_t)(int64_t)(seconds * 1e9); // or before it
    past->snapshot->taken_seconds = past->wall_offset + (double)past->snapshot->end_ns * 1e-9;
    history_take(past->history, past->snapshot);
}

// The metric in the step that is `ago` steps before the last one.
static inline double value(const struct past *past, long socket, const char *metric, bool coarse, size_t ago) {
    struct steps_range range = history_range(past->history, coarse);
    double result;
    assert_true(range.n > ago);
    history_read(past->history, socket, metric, coarse, range.first + (int64_t)(range.n - 1 - ago), 1, &result);
    return result;
}

static inline bool near(double a, double b) { return fabs(a - b) < 1e-5 * fabs(b); }

#endif
