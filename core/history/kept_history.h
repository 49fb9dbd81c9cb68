// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_KEPT_HISTORY_H
#define TOPDOWND_CORE_HISTORY_KEPT_HISTORY_H

// Histories as plain data, which outlive the process: a restart of topdownd or of the host goes on with what metrics
// were, and the time in which nothing was measured is empty. core/kept/ writes them as bytes.

#include "core/history/marks.h"
#include "core/history/steps.h"

// What a history is of: a core type, a kind of PMUs outside the cores, or the kernel's counts of memory.
enum kept_kind { KEPT_CORES, KEPT_BOXES, KEPT_MEMORY, KEPT_KINDS };

enum { KEPT_HISTORIES_MAX = 64, KEPT_SERIES_MAX = 256, KEPT_NAME_MAX = 128 };

struct kept_history {
    enum kept_kind kind;
    char of[KEPT_NAME_MAX];                    // the core type, "" if the host has one; or the kind of PMUs
    int64_t begin_ns, coarse_begin_ns, end_ns; // as in struct steps
    bool meanwhile;                            // its process went on when it was kept, and ended without keeping more
    struct steps_earlier earlier;              // of earlier boots
    struct steps_range fine, coarse;           // follow from these three
    size_t n;
    struct kept_series {
        char name[KEPT_NAME_MAX]; // the metric's exported name
        long of;                  // the scope: the number that the history has for it
        float *values;            // of the fine steps, then of the coarse ones; NaN: none
        uint8_t *margins;         // of the same (core/history/margin.h)
    } * series;
    struct marks marks;
};

struct kept_histories {
    size_t n;
    struct kept_history *all[KEPT_HISTORIES_MAX];
};

// The history from one moment to another, without series. NULL if out of memory.
struct kept_history *kept_history_new(int64_t begin_ns, int64_t coarse_begin_ns, int64_t end_ns);
struct kept_history *kept_history_free(struct kept_history *kept); // returns NULL, takes NULL

// Adds a series without values; NULL if out of memory, or if there are enough.
struct kept_series *kept_history_add(struct kept_history *kept, long of, const char *name);

// A series' values, and their margins, of fine or coarse steps.
float *kept_series_values(const struct kept_history *kept, const struct kept_series *series, bool coarse);
uint8_t *kept_series_margins(const struct kept_history *kept, const struct kept_series *series, bool coarse);

// Takes what a history's steps have, each series multiplied by its k. NULL if out of memory.
struct kept_history *kept_history_take(const struct steps *steps, double (*k)(const void *context, size_t series),
                                       const void *context);
// The other way round: there were steps before those of this process, which begin at a moment. Call it after steps_go.
// The steps are empty up to those of the second function: the values of a series, divided by k.
void kept_history_go_on(const struct kept_history *kept, int64_t own_begin_ns, struct steps *steps);
void kept_history_put(const struct kept_history *kept, const struct kept_series *series, double k, struct steps *steps,
                      size_t place);

// The same history after the host has booted: now_ns by the clock of this boot, of which the offsets of both to the
// epoch tell where the past lies on it. The past stays before now, also where the wall clock is behind. NULL if out of
// memory, or if the clocks are centuries apart.
struct kept_history *kept_history_reboot(const struct kept_history *kept, int64_t offset_ns, int64_t now_offset_ns,
                                         int64_t now_ns);

void kept_histories_deinit(struct kept_histories *kept);

#endif
