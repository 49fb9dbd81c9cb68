// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_COMPOSITES_H
#define TOPDOWND_CORE_COUNTS_COMPOSITES_H

// Composites: units whose events do not fit the counters at once, so that they are counted in parts, in adjacent slots.
// Only level 1 is counted so, where its spec names a split. The windows of all parts, one right after the other, are
// one window of the unit; a part that is missing spoils it.
//
// Over a round each part's windows are summed, and the sums are joined as if they were one window.

#include "core/counts/rows.h"

// Of a CPU.
struct composite {
    int done;               // parts that have their window; -1: one is missing
    double running_seconds; // on the counters, of these windows together
};

struct composites {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    int unit;               // -1: this plan has none
    size_t n_parts;         // of the unit; 0: this plan has none
    size_t n_values;        // of a part: as many as the unit has
    struct composite *cpus; // [cpu]
    double *parts;          // [cpu][part][value]: windows of an unfinished composite
    double *sums;           // the same, summed over the round's finished ones
    double *joined;         // [value]
};

// `rows` must outlive it. NULL where memory is short.
struct composites *composites_new(const struct rows *rows, size_t n_cpus);
struct composites *composites_free(struct composites *composites);

void composites_begin_round(struct composites *composites);

// A window without data on the CPU: the next one is no neighbour of those before.
void composites_break(struct composites *composites, size_t cpu);

// A part's window with data: where its values are to be written, by the unit's events and 0 for events of other parts.
// NULL where an earlier part has no data.
double *composites_begin_part(struct composites *composites, size_t cpu, size_t part);
// Its values are written. True where it was the last part: the composite is finished, and *running_seconds is how long
// an average part was on the counters.
bool composites_end_part(struct composites *composites, size_t cpu, double *running_seconds);

// The CPU's finished composites of the round as the values of one window; until the next call.
const double *composites_join(struct composites *composites, size_t cpu);

#endif
