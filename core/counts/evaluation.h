// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_EVALUATION_H
#define TOPDOWND_CORE_COUNTS_EVALUATION_H

// The inputs of a plan's formulas: counts by catalog event, and values by catalog metric.
//
// An evaluation is about one thing at a time: a window, a CPU's round, or a scope. evaluation_begin starts the next
// one. evaluation_fill enters the values of one unit; then the formulas of this unit, which has all their events, can
// be evaluated. Values that another unit entered before must not be used.

#include "core/counts/rows.h"

struct evaluation {
    const struct rows *rows; // borrowed
    double *counts;          // [catalog event]: formula_evaluate's events
    double *metrics;         // [catalog metric]: written by the caller; NaN at first; unplanned ones stay NaN
    int unit;                // the unit whose values are in `counts`; PLAN_NOT_PLANNABLE: none yet
};

// `rows` must outlive it. NULL if out of memory.
struct evaluation *evaluation_new(const struct rows *rows);
struct evaluation *evaluation_free(struct evaluation *evaluation);

// Starts another window, CPU or scope. It sets what is not an event's count and the same for all units: the elapsed
// seconds, the same for one CPU or many, and core_wide, 1 for sums over whole cores.
void evaluation_begin(struct evaluation *evaluation, double seconds, double core_wide);

// Enters a unit's values (core/counts/rows.h), multiplied by `factor`.
void evaluation_fill(struct evaluation *evaluation, size_t unit, const double *values, double factor);

// Enters what a formula of the unit reads, from a scope's row, unless already there. PLAN_COMBINED, for metrics made of
// others: only CPU seconds, those of the unit measured longest.
void evaluation_fill_for(struct evaluation *evaluation, const struct formula *formula, int unit, const double *row);
static inline void evaluation_fill_from_row(struct evaluation *evaluation, const struct formula *formula, int unit,
                                            const double *row) {
    if (unit != evaluation->unit && formula->n_variables > 0)
        evaluation_fill_for(evaluation, formula, unit, row);
}

static inline double evaluation_cpu_seconds(const struct evaluation *evaluation) {
    return evaluation->counts[CATALOG_CPU_SECONDS];
}

#endif
