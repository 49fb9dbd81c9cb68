// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_KEPT_HISTORY_H
#define TOPDOWND_CORE_HISTORY_KEPT_HISTORY_H

// Histories as plain data, which outlive the process: a restart of topdownd goes on with what metrics were, and the
// time in which it did not run is empty. core/kept/ writes them as bytes.

#include "core/history/marks.h"
#include "core/history/steps.h"

// Histories of a host: core types, and kinds of PMUs outside the cores.
enum { KEPT_HISTORIES_MAX = 64, KEPT_SERIES_MAX = 256, KEPT_NAME_MAX = 128 };

struct kept_history {
    char of[KEPT_NAME_MAX];          // the core type, "" if the host has one; or the kind
    bool boxes;                      // a kind of PMUs outside the cores
    uint64_t begin_ns, end_ns;       // of the first moment and of the last one, on the monotonic clock
    struct steps_range fine, coarse; // follow from these two
    size_t n;
    struct kept_series {
        char name[KEPT_NAME_MAX]; // the metric's exported name
        long socket;              // HISTORY_HOST: of the host
        float *values;            // of the fine steps, then of the coarse ones; NaN: none
    } * series;
    struct marks marks;
};

struct kept_histories {
    size_t n;
    struct kept_history *all[KEPT_HISTORIES_MAX];
};

// The history from one moment to another, without series. NULL if out of memory.
struct kept_history *kept_history_new(uint64_t begin_ns, uint64_t end_ns);
struct kept_history *kept_history_free(struct kept_history *kept); // returns NULL, takes NULL

// Adds a series without values; NULL if out of memory, or if there are enough.
struct kept_series *kept_history_add(struct kept_history *kept, long socket, const char *name);

void kept_histories_deinit(struct kept_histories *kept);

#endif
