// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_HISTORY_MEMORY_H
#define TOPDOWND_CORE_HISTORY_HISTORY_MEMORY_H

// What the kernel's counts of memory came to (core/memory/memory_metric.h): of the host, of sockets and of NUMA nodes,
// in the steps of core/history/steps.h. A reading stands for all of its interval.
//
// At most HISTORY_MEMORY_SERIES_MAX series: the host's come first, then those of sockets, then those of nodes.

#include "core/history/kept_history.h"
#include "core/memory/memory_metric.h"
#include "core/tally/snapshot.h"

enum { HISTORY_MEMORY_SERIES_MAX = 64 };

struct history_memory;

struct history_memory *history_memory_new(void); // NULL if out of memory
struct history_memory *history_memory_free(struct history_memory *history);

// As history_keep, history_restore and history_kept (core/history/history.h); without marks.
struct kept_history *history_memory_keep(const struct history_memory *history);
void history_memory_restore(struct history_memory *history, struct kept_history *kept);
const struct kept_history *history_memory_kept(const struct history_memory *history);

// Takes in the reading that a snapshot has, if it is another one than the last snapshot's.
void history_memory_take(struct history_memory *history, const struct snapshot *snapshot);

struct steps_range history_memory_range(const struct history_memory *history, bool coarse);

// The series that the newest reading has of a scope: metric by metric, and each metric's in the order of the reading.
// Returns how many are written: at most `max`.
struct history_memory_series {
    enum memory_metric metric;
    enum memory_scope scope;
    unsigned id; // the kernel's number of the socket or node; 0: the host
};
size_t history_memory_list(const struct history_memory *history, enum memory_scope scope,
                           struct history_memory_series *out, size_t max);

// As history_read.
void history_memory_read(const struct history_memory *history, const struct history_memory_series *series, bool coarse,
                         int64_t first, size_t n, double *values);

#endif
