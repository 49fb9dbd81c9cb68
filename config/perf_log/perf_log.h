// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_LOG_H

// Logs of `perf stat -I` with -x or -j, of any version: counts that others have taken, to be derived with our metrics.
//
// perf has scaled its counts for multiplexing already, so they stand for all of their interval. An event need not have
// been counted together with the others of its metric; nothing in a log tells. docs/recording.md has what is
// understood.

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
    uint64_t count;        // as perf scaled it; of a clock: ns
    float share;           // of the time that it ran, 0 to 1
    enum perf_log_state state;
};

struct perf_log_interval {
    uint64_t end_ns;      // since perf began
    size_t first, n_rows; // of rows
};

struct perf_log {
    char **events;
    size_t n_events;
    char **places; // what perf calls what it counted on: "CPU3", "S0", "S0-D0-C1"; "" for all together
    size_t n_places;
    struct perf_log_row *rows;
    size_t n_rows;
    struct perf_log_interval *intervals;
    size_t n_intervals; // at least one
    size_t n_skipped;   // lines that hold no count
};

// Returns 0, -EINVAL with what is wrong in `errors`, -ENOMEM. The text must have a 0 behind it.
int perf_log_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_log **out);
struct perf_log *perf_log_free(struct perf_log *log);

// The catalog's event that a log calls so, -1 where it has none: by name in any case, with modifiers (":u") or without,
// by "pmu/name/", "rXXXX" or "pmu/event=0x...,.../" where that is the event's code; and by perf's own name where
// `names` (NULL: none) says which of the catalog's vendor that is.
int perf_log_find_event(const struct catalog *catalog, const struct perf_names *names, const char *name);

// How many of the log's events the catalog has. Without `names` those that perf's own names mean are left out: a CPU of
// every vendor has them.
size_t perf_log_known(const struct perf_log *log, const struct catalog *catalog, const struct perf_names *names);

struct perf_log_request {
    const char *name; // the log's file, for errors
    const struct perf_log *log;
    const struct catalog *catalog;
    const struct perf_names *names; // NULL: perf's own names are not known
    const struct plan_selection *selections;
    size_t n_selections;
};

// Puts the log as a plan and its rounds at the end of `out`: an interval is a round, a place a CPU. Metrics of the
// selections whose events are not all in the log are not plannable. 0; -EINVAL with the reason in `errors`, -ENOMEM.
int perf_log_record(const struct perf_log_request *request, struct errors *errors, struct recording_buffer *out);

#endif
