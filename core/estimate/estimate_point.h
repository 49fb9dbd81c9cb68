// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_POINT_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_POINT_H

// The point at which a batch's derivatives are computed: the inputs of formulas as core/counts/operands.h has them, in
// lanes.

#include "core/estimate/estimate_batch.h"

struct estimate_point {
    const struct rows *rows; // borrowed
    struct lanes *counts;    // [catalog event]
    struct lanes *metrics;   // [catalog metric]: written by the caller; NaN at first; unplanned ones stay NaN
    int unit;                // the unit whose values are in `counts`; PLAN_NOT_PLANNABLE: none yet
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_point *estimate_point_new(const struct rows *rows);
struct estimate_point *estimate_point_free(struct estimate_point *point);

// Starts another batch, for rounds of `seconds`.
void estimate_point_begin(struct estimate_point *point, const struct topology *topology,
                          const struct estimate_batch *batch, double seconds);

// Enters what a formula of the unit reads, from the row of the batch's means, unless already there.
void estimate_point_fill(struct estimate_point *point, const struct formula *formula, int unit,
                         const struct lanes *row);

#endif
