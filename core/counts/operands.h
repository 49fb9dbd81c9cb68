// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_OPERANDS_H
#define TOPDOWND_CORE_COUNTS_OPERANDS_H

// The inputs of a plan's formulas: counts by catalog event, and values by catalog metric.
//
// They are about one thing at a time: a window, or a CPU's round. operands_begin starts the next one. operands_fill
// enters the values of one unit; then the formulas of this unit, which has all their events, can be evaluated. Values
// that another unit entered before must not be used.

#include "core/counts/rows.h"

struct operands {
    const struct rows *rows; // borrowed
    double *counts;          // [catalog event]: formula_evaluate's events
    double *metrics;         // [catalog metric]: written by the caller; NaN at first; unplanned ones stay NaN
    int unit;                // the unit whose values are in `counts`; PLAN_NOT_PLANNABLE: none yet
};

// `rows` must outlive it. NULL if out of memory.
struct operands *operands_new(const struct rows *rows);
struct operands *operands_free(struct operands *operands);

// Starts another window or CPU. It sets what is not an event's count and the same for all units: the elapsed
// seconds, the same for one CPU or many, and core_wide, 1 for sums over whole cores.
void operands_begin(struct operands *operands, double seconds, double core_wide);

// Enters a unit's values (core/counts/rows.h), multiplied by `factor`.
void operands_fill(struct operands *operands, size_t unit, const double *values, double factor);

static inline double operands_cpu_seconds(const struct operands *operands) {
    return operands->counts[CATALOG_CPU_SECONDS];
}

#endif
