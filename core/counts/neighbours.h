// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_NEIGHBOURS_H
#define TOPDOWND_CORE_COUNTS_NEIGHBOURS_H

// How much windows of the unit that every slot measures differ from those next to them, on each CPU, in its last round.
//
// Two things follow, which error bars need (core/estimate/estimate_shape.h, estimate_dither.h):
//
// - How much the load does within less than a window. Neighbours in which the same part of a short burst may lie differ
//   more than windows with one in between; where nothing is shorter than a window, they do not.
// - Whether fields of PERF_METRICS vary. A field is read in steps. Where neighbours read the same, they are rounded the
//   same; where they differ by a step as often as not, the roundings average out. Where another field differs by much,
//   the CPU does something else, so that a difference by a step says nothing.

#include "core/counts/rows.h"

#define WINDOWS_DIFFER 0.02 // share by which windows that are equally long may differ

enum { NEIGHBOURS_FIELD_STEPS = 255 }; // of a PERF_METRICS field of 8 bits (Intel SDM volume 3, "Performance Metrics")

// An event of the unit on a CPU.
struct neighbours_event {
    double now, last[2]; // counts a second of the window, and of those before; of a field, its reading
    double near, far;    // sums of squared differences of counts a second: of neighbours, of windows with one between
    double equal, adjacent; // pairs of neighbours that read a field the same, and that differ by a step, by weight: the
                            // smaller one's pipeline slots by the larger one's, as an idle window says little of a sum
};

struct neighbours {
    const struct rows *rows; // borrowed
    size_t n_cpus, n_events;
    int leader;     // place of the pipeline slots among the events; -1: none
    bool *is_field; // [event]
    struct neighbours_cpu {
        unsigned in_row;        // windows of a slot so far, without one of another length
        uint32_t n_near, n_far; // pairs in the round
        double n_read;          // pairs of windows that were read one after the other, by weight
        double slots;           // pipeline slots of the window before; 0 if it had no data
    } * cpus;
    struct neighbours_event *events; // [cpu][event of the unit]
};

// `rows` must outlive it, and its plan has a unit that every slot measures, or there is nothing to take. NULL if out of
// memory.
struct neighbours *neighbours_new(const struct rows *rows, size_t n_cpus);
struct neighbours *neighbours_free(struct neighbours *neighbours);

// Begins a CPU's round: nothing of the one before is a neighbour.
void neighbours_begin(struct neighbours *neighbours, size_t cpu);

// Takes the unit's values of the next window; NULL: it had no data.
void neighbours_take(struct neighbours *neighbours, size_t cpu, const double *values);

static inline const struct neighbours_event *neighbours_of(const struct neighbours *neighbours, size_t cpu) {
    return &neighbours->events[cpu * neighbours->n_events];
}

#endif
