// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SNAPSHOT_H
#define TOPDOWND_CORE_SNAPSHOT_H

// All values of one moment. Made once, when a round ends; never changed after; shared by counting references.
//
// The values are one flat array of doubles, NaN meaning "no sample", and struct snapshot_layout says where each lies.
// An exporter turns a layout into text with holes once, and fills the holes from the array at every snapshot.
//
// A scope is the whole host (0), a socket, or a CPU; each has the same fields.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan.h"
#include "core/readings.h"
#include "core/topology.h"

// Why CPU time is uncovered.
enum uncovered {
    UNCOVERED_STARVED, // other users held the counters
    UNCOVERED_FAILED,  // an event group could not be opened or read
    UNCOVERED_GAP,     // the daemon itself did not run for longer than a few rounds (stopped, suspended)
    UNCOVERED_N
};
const char *uncovered_name(enum uncovered reason);

// Why a metric has no value.
enum absent {
    ABSENT_NOT,           // it has one
    ABSENT_NO_ROUND,      // nothing has been measured yet
    ABSENT_NOT_PLANNABLE, // see the plan
    ABSENT_STARVED,
    ABSENT_FAILED,
    ABSENT_UNDEFINED, // the formula divides by zero: nothing happened
    ABSENT_N
};
const char *absent_text(enum absent reason);

// Values that are not about a scope. The caller of derive_round fills them in.
enum self_value {
    SELF_LAST_SNAPSHOT_TIMESTAMP, // seconds since the epoch
    SELF_COLLECTION_SECONDS,      // CPU time spent rotating and reading, total
    SELF_ROTATION_COUNT,          // of the histogram below
    SELF_ROTATION_SUM,            // seconds
    SELF_ROTATION_BUCKETS,        // SELF_BUCKETS_N cumulative counts
    SELF_ROTATION_BUCKETS_END = SELF_ROTATION_BUCKETS + 7,
    SELF_PMU_UP = SELF_ROTATION_BUCKETS_END, // 1, 0
    SELF_PROCESS_CPU_SECONDS,
    SELF_PROCESS_RESIDENT_BYTES,
    SELF_PROCESS_VIRTUAL_BYTES,
    SELF_PROCESS_OPEN_FDS,
    SELF_PROCESS_MAX_FDS,
    SELF_PROCESS_START_TIMESTAMP,
    SELF_N
};
enum { SELF_BUCKETS_N = SELF_ROTATION_BUCKETS_END - SELF_ROTATION_BUCKETS };
extern const double snapshot_rotation_bounds[SELF_BUCKETS_N]; // upper bounds in seconds; +Inf is the count itself

struct snapshot_layout {
    const struct catalog *catalog;
    const struct plan *plan;
    const struct topology *topology;
    size_t n_scopes;     // 1 + sockets + CPUs
    size_t n_metrics;    // of the plan
    size_t n_level1;     // categories of the plan's level-1 split, 0 where there is none
    size_t n_events;     // distinct events of the plan, without CATALOG_CPU_SECONDS
    unsigned *events;    // of the catalog
    size_t scope_stride; // values of one scope
    size_t n_values;
};

// Offsets of a scope's fields; each is an index into snapshot->values.
size_t snapshot_metric(const struct snapshot_layout *layout, size_t scope, size_t metric); // export scale applied
size_t snapshot_deviation(const struct snapshot_layout *layout, size_t scope);             // ratio
size_t snapshot_rate_above(const struct snapshot_layout *layout, size_t scope,
                           size_t metric); // host only: numerator a
                                           // second, NaN where the metric has no rate threshold
size_t snapshot_numerator(const struct snapshot_layout *layout, size_t scope, size_t metric); // totals from here on
size_t snapshot_denominator(const struct snapshot_layout *layout, size_t scope, size_t metric);
size_t snapshot_category(const struct snapshot_layout *layout, size_t scope, size_t category); // index into level1
size_t snapshot_pipeline_slots(const struct snapshot_layout *layout, size_t scope);
size_t snapshot_event(const struct snapshot_layout *layout, size_t scope, size_t event);
size_t snapshot_covered(const struct snapshot_layout *layout, size_t scope); // CPU seconds
size_t snapshot_uncovered(const struct snapshot_layout *layout, size_t scope, enum uncovered reason);
// Of the whole host:
size_t snapshot_windows(const struct snapshot_layout *layout, size_t group, enum window_result result);
size_t snapshot_enabled(const struct snapshot_layout *layout, size_t group); // seconds
size_t snapshot_running(const struct snapshot_layout *layout, size_t group); // seconds
size_t snapshot_self(const struct snapshot_layout *layout, enum self_value value);

static inline size_t snapshot_scope_socket(size_t socket) { return 1 + socket; }
static inline size_t snapshot_scope_cpu(const struct snapshot_layout *layout, size_t cpu) {
    return 1 + layout->topology->n_sockets + cpu;
}

struct snapshot_layout *snapshot_layout_new(const struct plan *plan, const struct topology *topology);
struct snapshot_layout *snapshot_layout_free(struct snapshot_layout *layout);

struct snapshot {
    const struct snapshot_layout *layout; // outlives every snapshot
    atomic_uint references;
    uint64_t sequence;         // 0: nothing measured yet; then the number of rounds
    uint64_t start_ns, end_ns; // the round that the gauges cover
    double *values;            // layout->n_values
    uint8_t *absent;           // [scope][metric], enum absent
};

// One reference held by the caller; all values NaN.
struct snapshot *snapshot_new(const struct snapshot_layout *layout);
struct snapshot *snapshot_ref(struct snapshot *snapshot);
struct snapshot *snapshot_unref(struct snapshot *snapshot); // returns NULL, takes NULL

#endif
