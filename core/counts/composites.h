// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_COMPOSITES_H
#define TOPDOWND_CORE_COUNTS_COMPOSITES_H

// Composites: units whose events do not fit the counters at once, so that they are counted in parts, in adjacent slots.
// Only level 1 can be a composite, if its spec names a split. The windows of all parts, one right after the other, are
// one window of the unit; a missing part invalidates it.
//
// Over a round each part's windows are summed, and the sums are joined as if they were one window.

#include "core/counts/rows.h"

// The composite of one CPU.
struct composite {
    int done;               // parts with a window; -1: one is missing
    double running_seconds; // on the counters, over these windows
};

struct composites {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    int unit;               // -1: the plan has none
    size_t n_parts;         // of the unit; 0: the plan has none
    size_t n_values;        // of a part: the same number as the unit's
    struct composite *cpus; // [cpu]
    double *parts;          // [cpu][part][value]: windows of an unfinished composite
    double *sums;           // the same, summed over the round's finished ones
    double *joined;         // [value]
};

// `rows` must outlive it. NULL if out of memory.
struct composites *composites_new(const struct rows *rows, size_t n_cpus);
struct composites *composites_free(struct composites *composites);

void composites_begin_round(struct composites *composites, size_t cpu);

// Notes a window without data on the CPU: the next window does not follow the ones before.
void composites_break(struct composites *composites, size_t cpu);

// Begins a part's window with data. The caller writes its values to the result, by the unit's events and 0 for events
// of other parts. NULL if an earlier part has no data.
double *composites_begin_part(struct composites *composites, size_t cpu, size_t part);
// Ends the part, whose values are written. True if it was the last one: the composite is finished, and *running_seconds
// is the time that an average part was on the counters.
bool composites_end_part(struct composites *composites, size_t cpu, double *running_seconds);

// The CPU's finished composites of the round as the values of one window, valid until the next call.
const double *composites_join(struct composites *composites, size_t cpu);

#endif
