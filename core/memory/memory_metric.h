// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_MEMORY_MEMORY_METRIC_H
#define TOPDOWND_CORE_MEMORY_MEMORY_METRIC_H

// What the kernel's counts of memory come to between two readings: shares and rates, of the host, of a socket or of a
// NUMA node. Each is a quotient of two sums, like a metric of a PMU, so that the history and comparisons of recordings
// take it as they take those.

#include "core/memory/host_memory.h"

enum memory_metric {
    MEMORY_METRIC_REMOTE,     // allocations for CPUs of other nodes; of the host and of nodes
    MEMORY_METRIC_MISSED,     // allocations that were wanted on another node; of the host and of nodes
    MEMORY_METRIC_HINTS,      // pages that NUMA balancing found on another node
    MEMORY_METRIC_BALANCED,   // bytes that it moved
    MEMORY_METRIC_PROMOTED,   // bytes moved to a faster tier
    MEMORY_METRIC_DEMOTED,    // and to a slower one
    MEMORY_METRIC_MIGRATED,   // pages moved for any reason
    MEMORY_METRIC_RESCTRL,    // bytes between caches and memory; of the host and of sockets
    MEMORY_METRIC_RESCTRL_OF, // of which of other nodes; of the host and of sockets
    MEMORY_METRICS_N
};

enum memory_scope { MEMORY_HOST, MEMORY_SOCKET, MEMORY_NODE, MEMORY_SCOPES };
const char *memory_scope_name(enum memory_scope scope); // for programs

struct memory_metric_words {
    const char *name, *title, *unit, *definition;
};
extern const struct memory_metric_words memory_metrics[MEMORY_METRICS_N];

// True if a scope can have the metric at all.
bool memory_metric_of(enum memory_metric metric, enum memory_scope scope);

// How many there are of a scope in a reading: 1, sockets of resctrl, or nodes. And the kernel's number of one of them.
size_t memory_scope_count(const struct host_memory *memory, enum memory_scope scope);
unsigned memory_scope_id(const struct host_memory *memory, enum memory_scope scope, size_t place);

// True if the kernel tells the metric of it: maybe not since the reading before.
bool memory_metric_told(const struct host_memory *memory, enum memory_metric metric, enum memory_scope scope,
                        size_t place);

// What numerator and denominator grew by since the reading before. Denominator 0: nothing came, or it is not known.
struct memory_growth {
    double numerator, denominator;
};
struct memory_growth memory_metric_growth(const struct host_memory *memory, enum memory_metric metric,
                                          enum memory_scope scope, size_t place);

// The quotient; NaN: there is none.
double memory_metric_value(const struct host_memory *memory, enum memory_metric metric, enum memory_scope scope,
                           size_t place);

#endif
