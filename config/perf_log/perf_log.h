// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_H

// Reads logs of `perf stat -I` with -x or -j, of any version, so that topdownd can derive its metrics from perf's
// counts.
//
// perf has already scaled its counts for multiplexing, so they represent their whole interval. An event may not have
// been counted together with the others of its metric; the log does not tell. docs/recording.md describes the supported
// logs.

#include <stddef.h>
#include <stdint.h>

#include "config/perf_log/perf_names.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/recording/recording.h"
#include "core/spec/catalog.h"

enum { PERF_LOG_EVENTS_MAX = 4096, PERF_LOG_PLACES_MAX = 8192, PERF_LOG_ROWS_MAX = 1 << 24, PERF_LOG_NAME_MAX = 255 };

enum perf_log_state { PERF_LOG_COUNTED, PERF_LOG_NOT_COUNTED, PERF_LOG_NOT_SUPPORTED };

struct perf_log_row {
    unsigned event, place; // indexes
    uint64_t count;        // scaled by perf; for a clock: ns
    float share;           // share of the time that it ran, 0 to 1
    enum perf_log_state state;
};

struct perf_log_interval {
    uint64_t end_ns;      // since perf started
    size_t first, n_rows; // of rows
};

struct perf_log {
    char **events;
    size_t n_events;
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

// Finds the catalog event for a name in a log, -1 if there is none: by name, ignoring case, with or without modifiers
// (":u"); by "pmu/name/"; by "rXXXX" or "pmu/event=0x...,.../" if that is the event's code; and by perf's own name if
// `names` (NULL: none) maps it to one of the catalog's vendor.
int perf_log_find_event(const struct catalog *catalog, const struct perf_names *names, const char *name);

// The number of the log's events that the catalog has. Without `names`, perf's own event names do not count: every
// vendor's CPUs have them.
size_t perf_log_known(const struct perf_log *log, const struct catalog *catalog, const struct perf_names *names);

struct perf_log_request {
    const char *name; // the log's file, for errors
    const struct perf_log *log;
    const struct catalog *catalog;
    const struct perf_names *names; // NULL: perf's own names are not known
    const struct plan_selection *selections;
    size_t n_selections;
};

// Appends the log to `out` as a plan and its rounds: an interval is a round, a place a CPU. Metrics of the selections
// with events that are not in the log are not plannable. 0; -EINVAL with the reason in `errors`, -ENOMEM.
int perf_log_record(const struct perf_log_request *request, struct errors *errors, struct recording_buffer *out);

#endif
