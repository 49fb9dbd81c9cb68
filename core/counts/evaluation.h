// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_EVALUATION_H
#define TOPDOWND_CORE_COUNTS_EVALUATION_H

// What a plan's formulas read: counts by catalog event, and values by catalog metric.
//
// An evaluation is of one thing at a time: a window, a CPU's round, or a scope. evaluation_begin says that another one
// begins; evaluation_fill puts in the values of one unit, and then the formulas of this unit can be evaluated: all
// their events are in it. What another unit filled in before is of no use to anyone.

#include "core/counts/rows.h"

struct evaluation {
    const struct rows *rows; // borrowed
    double *counts;          // [catalog event]: what formula_evaluate calls events
    double *metrics;         // [catalog metric]: written by the caller; NaN at first, what is not planned stays so
    int unit;                // whose values `counts` has; PLAN_NOT_PLANNABLE: none yet
};

// `rows` must outlive it. NULL where memory is short.
struct evaluation *evaluation_new(const struct rows *rows);
struct evaluation *evaluation_free(struct evaluation *evaluation);

// Another window, CPU or scope. What is no event's count is the same for all units: the seconds that passed, which are
// the same for one CPU and for many, and 1 for sums over whole cores.
void evaluation_begin(struct evaluation *evaluation, double seconds, double core_wide);

// A unit's values (core/counts/rows.h), times `factor`.
void evaluation_fill(struct evaluation *evaluation, size_t unit, const double *values, double factor);

// What a formula of the unit reads, from a scope's row, unless it is there already. PLAN_COMBINED, for metrics that are
// made of others: CPU seconds alone, as many as the unit has that was measured longest.
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
