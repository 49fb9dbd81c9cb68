// SPDX-License-Identifier: Apache-2.0
#include "core/memory/memory_metric.h"

#include <math.h>

const struct memory_metric_words memory_metrics[MEMORY_METRICS_N] = {
    [MEMORY_METRIC_REMOTE] = {"numa_remote_allocation_ratio", "Remote allocations", "ratio of allocations",
                              "allocations of memory for CPUs of other nodes, as a share of all"},
    [MEMORY_METRIC_MISSED] = {"numa_missed_allocation_ratio", "Missed allocations", "ratio of allocations",
                              "allocations of memory that were wanted on another node, which had no room, as a share "
                              "of all"},
    [MEMORY_METRIC_HINTS] = {"numa_remote_hint_fault_ratio", "Remote pages in NUMA balancing", "ratio of hint faults",
                             "pages that NUMA balancing found on another node than the CPU that used them, as a share "
                             "of those that it looked at"},
    [MEMORY_METRIC_BALANCED] = {"numa_balanced_bytes_per_second", "Moved by NUMA balancing", "bytes per second",
                                "memory that NUMA balancing moved to another node"},
    [MEMORY_METRIC_PROMOTED] = {"tier_promoted_bytes_per_second", "Moved to a faster tier", "bytes per second",
                                "memory that was moved to a faster tier"},
    [MEMORY_METRIC_DEMOTED] = {"tier_demoted_bytes_per_second", "Moved to a slower tier", "bytes per second",
                               "memory that was moved to a slower tier"},
    [MEMORY_METRIC_MIGRATED] = {"numa_migrated_pages_per_second", "Migrated pages", "pages per second",
                                "pages of memory that were moved for any reason"},
    [MEMORY_METRIC_RESCTRL] = {"resctrl_memory_bytes_per_second", "Memory traffic by resctrl", "bytes per second",
                               "bytes between last-level caches and memory, as resctrl counts them"},
    [MEMORY_METRIC_RESCTRL_OF] = {"resctrl_remote_ratio", "Of other nodes by resctrl", "ratio of bytes",
                                  "bytes between last-level caches and memory of other nodes, as a share of all"},
};

const char *memory_scope_name(enum memory_scope scope) {
    static const char *const names[MEMORY_SCOPES] = {
        [MEMORY_HOST] = "host", [MEMORY_SOCKET] = "socket", [MEMORY_NODE] = "node"};
    return names[scope];
}

bool memory_metric_of(enum memory_metric metric, enum memory_scope scope) {
    bool resctrl = metric == MEMORY_METRIC_RESCTRL || metric == MEMORY_METRIC_RESCTRL_OF;
    bool of_nodes = metric == MEMORY_METRIC_REMOTE || metric == MEMORY_METRIC_MISSED;
    return scope == MEMORY_HOST || (scope == MEMORY_SOCKET ? resctrl : of_nodes);
}

size_t memory_scope_count(const struct host_memory *memory, enum memory_scope scope) {
    return scope == MEMORY_HOST ? 1 : scope == MEMORY_SOCKET ? memory->n_sockets : memory->n_nodes;
}

unsigned memory_scope_id(const struct host_memory *memory, enum memory_scope scope, size_t place) {
    return scope == MEMORY_SOCKET ? memory->sockets[place].id : scope == MEMORY_NODE ? memory->nodes[place].id : 0;
}

// Sums that only grow, of which the metric is the quotient. NaN: not told.
struct sums {
    double numerator, denominator;
};

static const struct sums UNTOLD = {NAN, NAN};

static struct sums of_host(const double totals[HOST_MEMORY_TOTALS_N], enum memory_metric metric, double seconds) {
    static const enum host_memory_total moved[MEMORY_METRICS_N] = {
        [MEMORY_METRIC_BALANCED] = HOST_MEMORY_BALANCED,
        [MEMORY_METRIC_PROMOTED] = HOST_MEMORY_PROMOTED,
        [MEMORY_METRIC_DEMOTED] = HOST_MEMORY_DEMOTED,
        [MEMORY_METRIC_MIGRATED] = HOST_MEMORY_MIGRATED,
    };
    double allocations = totals[HOST_MEMORY_LOCAL] + totals[HOST_MEMORY_REMOTE];
    switch (metric) {
    case MEMORY_METRIC_REMOTE:
        return (struct sums){totals[HOST_MEMORY_REMOTE], allocations};
    case MEMORY_METRIC_MISSED:
        return (struct sums){totals[HOST_MEMORY_MISSED], allocations};
    case MEMORY_METRIC_HINTS:
        return (struct sums){totals[HOST_MEMORY_HINT_REMOTE],
                             totals[HOST_MEMORY_HINT_LOCAL] + totals[HOST_MEMORY_HINT_REMOTE]};
    default:
        return (struct sums){totals[moved[metric]], seconds};
    }
}

static struct sums of_node(const double counts[HOST_MEMORY_COUNTS_N], enum memory_metric metric) {
    if (metric == MEMORY_METRIC_REMOTE)
        return (struct sums){counts[HOST_MEMORY_OTHER], counts[HOST_MEMORY_OTHER] + counts[HOST_MEMORY_OWN]};
    return (struct sums){counts[HOST_MEMORY_MISS], counts[HOST_MEMORY_MISS] + counts[HOST_MEMORY_HIT]};
}

static struct sums of_bytes(const struct host_memory_bytes *bytes, enum memory_metric metric, double seconds) {
    double apart = bytes->local + bytes->remote;
    if (metric == MEMORY_METRIC_RESCTRL_OF)
        return (struct sums){bytes->remote, apart};
    return (struct sums){isnan(apart) ? bytes->all : isnan(bytes->all) ? apart : apart + bytes->all, seconds};
}

static struct sums of_sockets(const struct host_memory *memory, enum memory_metric metric, bool before) {
    struct sums sums = {0, 0};
    for (size_t i = 0; i < memory->n_sockets; i++) {
        const struct host_memory_socket *socket = &memory->sockets[i];
        struct sums one = of_bytes(before ? &socket->before : &socket->bytes, metric, 0);
        sums.numerator += one.numerator;
        sums.denominator += one.denominator;
    }
    if (metric == MEMORY_METRIC_RESCTRL)
        sums.denominator = before ? 0 : memory->seconds;
    return memory->n_sockets > 0 ? sums : UNTOLD;
}

// Now, or at the reading before.
static struct sums sums_of(const struct host_memory *memory, enum memory_metric metric, enum memory_scope scope,
                           size_t place, bool before) {
    double seconds = before ? 0 : memory->seconds;
    if (!memory_metric_of(metric, scope))
        return UNTOLD;
    if (scope == MEMORY_NODE)
        return of_node(before ? memory->nodes[place].before : memory->nodes[place].counts, metric);
    if (scope == MEMORY_SOCKET)
        return of_bytes(before ? &memory->sockets[place].before : &memory->sockets[place].bytes, metric, seconds);
    return memory_metric_of(metric, MEMORY_SOCKET)
               ? of_sockets(memory, metric, before)
               : of_host(before ? memory->totals_before : memory->totals, metric, seconds);
}

// A host with one node counts everything on it.
bool memory_metric_told(const struct host_memory *memory, enum memory_metric metric, enum memory_scope scope,
                        size_t place) {
    struct sums now = sums_of(memory, metric, scope, place, false);
    return isfinite(now.numerator) && isfinite(now.denominator) && (scope != MEMORY_NODE || memory->n_nodes > 1);
}

struct memory_growth memory_metric_growth(const struct host_memory *memory, enum memory_metric metric,
                                          enum memory_scope scope, size_t place) {
    struct sums now = sums_of(memory, metric, scope, place, false);
    struct sums before = sums_of(memory, metric, scope, place, true);
    struct memory_growth growth = {now.numerator - before.numerator, now.denominator - before.denominator};
    bool grew = growth.numerator >= 0 && growth.denominator > 0; // false for NaN
    return grew ? growth : (struct memory_growth){0, 0};
}

double memory_metric_value(const struct host_memory *memory, enum memory_metric metric, enum memory_scope scope,
                           size_t place) {
    struct memory_growth growth = memory_metric_growth(memory, metric, scope, place);
    return growth.denominator > 0 ? growth.numerator / growth.denominator : NAN;
}
