// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_SNAPSHOT_H
#define TOPDOWND_CORE_TALLY_SNAPSHOT_H

// All values of one moment. Created when a round ends, then immutable; shared by reference counting.
//
// The values are one flat array of doubles, where NaN means "no sample"; struct snapshot_layout gives each value's
// index. An exporter turns a layout into text with holes once, and fills the holes from the array at every snapshot.
//
// A scope is the whole host (0), a socket, or a CPU; each has the same fields, but that CPUs lack some metrics
// (plan_n_cpu_metrics). What a CPU lacks has one place for all, which is never written and always NaN.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/counts/scopes.h"
#include "core/counts/uncovered.h"
#include "core/estimate/estimate.h"
#include "core/host/topology.h"
#include "core/memory/host_memory.h"
#include "core/plan/plan.h"
#include "core/status/status.h"
#include "core/tally/circumstances.h"
#include "core/tally/readings.h"
#include "core/tally/verdict.h"

// Why a metric has no value.
enum absent {
    ABSENT_NOT,           // it has one
    ABSENT_NO_ROUND,      // nothing has been measured yet
    ABSENT_NOT_PLANNABLE, // see the plan
    ABSENT_STARVED,
    ABSENT_FAILED,
    ABSENT_OFFLINE,
    ABSENT_STALLED,   // an event never counts (core/counts/zeros.h)
    ABSENT_FILTERED,  // an event has not counted, and something filters events
    ABSENT_YIELDED,   // another user has asked for the counters
    ABSENT_UNDEFINED, // the formula divides by zero: nothing happened
    ABSENT_STALE,     // the last round ended too long ago: see snapshot_stale
    ABSENT_N
};
const char *absent_text(enum absent reason);

// Why an event yields no samples. An event that counts, or that is idle together with what it is a share of, has no
// such state.
enum event_trouble {
    EVENT_STALLED,     // must count in any busy second, and has never counted, while what it is a share of counts
    EVENT_FILTERED,    // has never counted either, and may be filtered
    EVENT_DEAD,        // the spec knows that this CPU does not count it, or not rightly
    EVENT_UNSUPPORTED, // the PMU lacks it
    EVENT_STARVED,     // its event groups got no counters in the last round
    EVENT_TROUBLE_N
};
const char *event_trouble_name(enum event_trouble trouble);

struct snapshot_layout {
    const struct catalog *catalog; // a reference
    struct plan *plan;             // owned
    struct topology *topology;     // owned
    atomic_uint references;
    size_t n_scopes;      // 1 + sockets + CPUs
    size_t n_metrics;     // of the plan
    size_t n_cpu_metrics; // the first ones of these, which single CPUs have as well
    size_t n_level1;      // categories of the plan's level-1 split, 0 without one
    size_t n_events;      // distinct events of the selected metrics, plannable or not, without CATALOG_CPU_SECONDS
    unsigned *events;     // of the catalog
    size_t scope_stride;  // values of the host or a socket
    size_t cpu_stride;    // values of a CPU
    size_t n_values;
};

// Offsets of a scope's fields; each is an index into snapshot->values.
size_t snapshot_metric(const struct snapshot_layout *layout, size_t scope, size_t metric); // export scale applied
size_t snapshot_deviation(const struct snapshot_layout *layout, size_t scope);             // ratio
// The largest standard error of the level-1 categories; NaN if one has none.
size_t snapshot_level1_error(const struct snapshot_layout *layout, size_t scope); // ratio
size_t snapshot_rate_above(const struct snapshot_layout *layout, size_t scope,
                           size_t metric); // host only: numerator per second; NaN if the metric has no rate threshold
// The metric's standard error and interval, see core/estimate/estimate.h: NaN if it has no value or no interval.
size_t snapshot_standard_error(const struct snapshot_layout *layout, size_t scope, size_t metric);
size_t snapshot_low(const struct snapshot_layout *layout, size_t scope, size_t metric); // 95 %
size_t snapshot_high(const struct snapshot_layout *layout, size_t scope, size_t metric);
// The metric's basis: windows in the scope, and the share of its CPUs' time in which its events were on the counters.
// For a metric made of others, the smallest of theirs.
size_t snapshot_metric_windows(const struct snapshot_layout *layout, size_t scope, size_t metric);
size_t snapshot_share_of_time(const struct snapshot_layout *layout, size_t scope, size_t metric);
size_t snapshot_numerator(const struct snapshot_layout *layout, size_t scope, size_t metric); // totals from here on
size_t snapshot_denominator(const struct snapshot_layout *layout, size_t scope, size_t metric);
size_t snapshot_category(const struct snapshot_layout *layout, size_t scope, size_t category); // index into level1
// The category whose share a metric of the plan is; n_level1: none.
size_t snapshot_category_of(const struct snapshot_layout *layout, size_t metric);
size_t snapshot_pipeline_slots(const struct snapshot_layout *layout, size_t scope);
// Pipeline slots that threads lost to their siblings; only if the catalog's level 1 is per thread.
size_t snapshot_contention(const struct snapshot_layout *layout, size_t scope);
size_t snapshot_event(const struct snapshot_layout *layout, size_t scope, size_t event);
size_t snapshot_covered(const struct snapshot_layout *layout, size_t scope); // CPU seconds
size_t snapshot_uncovered(const struct snapshot_layout *layout, size_t scope, enum uncovered reason);
// For how long guests had CPUs while events excluded them, CPU seconds; NaN: not known, or they are counted.
size_t snapshot_guest(const struct snapshot_layout *layout, size_t scope);
// For how long the kernel saw CPUs busy, CPU seconds, whether their counts are covered or not; NaN: it was not asked.
size_t snapshot_busy(const struct snapshot_layout *layout, size_t scope);
// Of the whole host:
size_t snapshot_windows(const struct snapshot_layout *layout, size_t group, enum window_result result);
size_t snapshot_enabled(const struct snapshot_layout *layout, size_t group);                             // seconds
size_t snapshot_running(const struct snapshot_layout *layout, size_t group);                             // seconds
size_t snapshot_trouble(const struct snapshot_layout *layout, size_t event, enum event_trouble trouble); // 1 or NaN
size_t snapshot_offline(const struct snapshot_layout *layout, size_t socket);  // CPUs offline in the last round
size_t snapshot_measured(const struct snapshot_layout *layout, size_t socket); // CPUs online in it
// The lasting verdict of the host (scope 0) or of a socket, which core/diagnosis copies from `verdicts`. One value for
// each metric of the plan, and one at `n_metrics` for "nothing is high": 1 for the last node of the path, NaN for all
// others. Then since when, in seconds since the epoch; 1 where the intervals leave no doubt of the path, 0 where they
// do; and 1 where its beginning was not seen, so that the verdict may be older, else NaN.
size_t snapshot_verdict(const struct snapshot_layout *layout, size_t scope, size_t metric);
size_t snapshot_verdict_since(const struct snapshot_layout *layout, size_t scope);
size_t snapshot_verdict_certain(const struct snapshot_layout *layout, size_t scope);
size_t snapshot_verdict_unseen(const struct snapshot_layout *layout, size_t scope);
// Of when the gauges of what rotates are: how many seconds before end_ns the earliest of the cores' last rounds began,
// and the newest one ended. Where a round is longer than a snapshot, the next one may have the same gauges: they are of
// the same time, and so older. NaN: no round has ended.
size_t snapshot_gauges_begun(const struct snapshot_layout *layout);
size_t snapshot_gauges_ended(const struct snapshot_layout *layout);
// The same as snapshot_gauges_ended, but NaN as long as each snapshot of the plan has ended rounds: it never was more
// than 0.
size_t snapshot_gauges_age(const struct snapshot_layout *layout);

static inline bool snapshot_is_cpu(const struct snapshot_layout *layout, size_t scope) {
    return scope >= scope_of_cpu(layout->topology, 0);
}
// How many of the plan's metrics, the first ones, the scope has; and how far apart the same value of two successive
// scopes of its kind is.
static inline size_t snapshot_n_metrics(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_is_cpu(layout, scope) ? layout->n_cpu_metrics : layout->n_metrics;
}
static inline size_t snapshot_stride(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_is_cpu(layout, scope) ? layout->cpu_stride : layout->scope_stride;
}

// Number of states of metrics; after the last one comes that of what CPUs lack.
static inline size_t snapshot_n_states(const struct snapshot_layout *layout) {
    size_t n_shared = scope_of_cpu(layout->topology, 0);
    return n_shared * layout->n_metrics + (layout->n_scopes - n_shared) * layout->n_cpu_metrics;
}
// Index of a metric's state in snapshot->absent and ->trust.
static inline size_t snapshot_state(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    size_t n_shared = scope_of_cpu(layout->topology, 0);
    if (scope < n_shared)
        return scope * layout->n_metrics + metric;
    return metric < layout->n_cpu_metrics
               ? n_shared * layout->n_metrics + (scope - n_shared) * layout->n_cpu_metrics + metric
               : snapshot_n_states(layout);
}

static inline size_t snapshot_scope_socket(size_t socket) { return scope_of_socket(socket); }
static inline size_t snapshot_scope_cpu(const struct snapshot_layout *layout, size_t cpu) {
    return scope_of_cpu(layout->topology, cpu);
}

// Takes ownership of the plan and the topology, which are freed with the layout. The caller owns the one reference.
// NULL if out of memory; the caller then still owns both.
struct snapshot_layout *snapshot_layout_new(struct plan *plan, struct topology *topology);
// Place of the plan's metric that is exported by this name; -1: it is not measured.
int snapshot_layout_place(const struct snapshot_layout *layout, const char *export_name);
struct snapshot_layout *snapshot_layout_ref(struct snapshot_layout *layout);
struct snapshot_layout *snapshot_layout_unref(struct snapshot_layout *layout); // returns NULL, takes NULL

struct snapshot {
    struct snapshot_layout *layout; // a reference
    atomic_uint references;
    uint64_t sequence;         // 0: nothing measured yet; then the number of snapshots since the first round ended
    uint64_t start_ns, end_ns; // since the snapshot before
    double taken_seconds;      // when it was made, since the epoch; NaN: nothing has been measured yet
    bool within_round;         // not all cores, maybe none, have ended a round since the last snapshot that was not
    double *values;            // layout->n_values
    uint8_t *absent;           // of snapshot_state: enum absent
    uint8_t *trust;            // likewise: snapshot_quality and snapshot_doubt
    // Of the host, then of each socket. Before core/diagnosis has filled them in, nothing is known.
    struct verdict_scope *verdicts;
    struct circumstances circumstances; // of the host; filled in with the verdicts
    struct estimate_rounds_of *many; // likewise, or NULL: what many rounds come to together; a variance of NaN: unknown
    bool stale;                      // made by snapshot_stale
    bool blind;                      // nothing was counted for a while: core/tally/blind.h
    bool never_counted;              // of one that is blind: not once since the start
    // What the kernel counts of memory, a reference; NULL: not known. Only the first core type's snapshot has it, which
    // gets it before anybody else gets the snapshot.
    struct host_memory *memory;
    struct status status;        // of the daemon,
    struct status_engine engine; // and of the engine that made it
};

// How good an interval is, and why it is poor or absent, by a metric's state. A large host has a hundred thousand of
// these, so both share a byte.
enum { SNAPSHOT_QUALITY_BITS = 3 };
static inline enum estimate_quality snapshot_quality(const struct snapshot *snapshot, size_t state) {
    return (enum estimate_quality)(snapshot->trust[state] & ((1U << SNAPSHOT_QUALITY_BITS) - 1));
}
static inline enum estimate_doubt snapshot_doubt(const struct snapshot *snapshot, size_t state) {
    return (enum estimate_doubt)(snapshot->trust[state] >> SNAPSHOT_QUALITY_BITS);
}
static inline void snapshot_set_trust(struct snapshot *snapshot, size_t state, enum estimate_quality quality,
                                      enum estimate_doubt doubt) {
    snapshot->trust[state] = (uint8_t)((unsigned)doubt << SNAPSHOT_QUALITY_BITS | (unsigned)quality);
}

// How often per second the metric's events happened on the whole host, if that is above its rate threshold; else 0.
double snapshot_high_rate(const struct snapshot *snapshot, size_t metric);

// Makes room for what many rounds come to, of which nothing is known yet; without memory there is none.
void snapshot_tell_many(struct snapshot *snapshot);

// Returns a snapshot with all values NaN and one reference, owned by the caller.
struct snapshot *snapshot_new(struct snapshot_layout *layout);
// A copy for when a newer snapshot is overdue, without what is true only of the last round: no gauges, the PMU is down,
// totals unchanged. NULL if out of memory.
struct snapshot *snapshot_stale(const struct snapshot *snapshot);
struct snapshot *snapshot_ref(struct snapshot *snapshot);
struct snapshot *snapshot_unref(struct snapshot *snapshot); // returns NULL, takes NULL

#endif
