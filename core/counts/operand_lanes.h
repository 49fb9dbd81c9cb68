// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_OPERAND_LANES_H
#define TOPDOWND_CORE_COUNTS_OPERAND_LANES_H

// The inputs of a plan's formulas, as core/counts/operands.h has them, for a batch of scopes in lanes.

#include "core/base/lanes.h"
#include "core/counts/rows.h"

struct operand_lanes {
    const struct rows *rows; // borrowed
    struct lanes *counts;    // [catalog event]
    struct lanes *metrics;   // [catalog metric]: written by the caller; NaN at first; unplanned ones stay NaN
    int unit;                // the unit whose values are in `counts`; PLAN_NOT_PLANNABLE: none yet
};

// `rows` must outlive it. NULL if out of memory.
struct operand_lanes *operand_lanes_new(const struct rows *rows);
struct operand_lanes *operand_lanes_free(struct operand_lanes *operands);

// Starts another batch. It sets what is not an event's count and the same for all units: the elapsed seconds, the same
// for one CPU or many, and core_wide, 1 for sums over whole cores.
void operand_lanes_begin(struct operand_lanes *operands, double seconds, double core_wide);

// Enters what a formula of the unit reads, from the batch's row, unless already there. PLAN_COMBINED, for metrics made
// of others: only CPU seconds, those of the unit measured longest.
void operand_lanes_fill(struct operand_lanes *operands, const struct formula *formula, int unit,
                        const struct lanes *row);

// Enters a unit's values (core/counts/rows.h) of one CPU's window in a lane: its seconds are the elapsed ones.
void operand_lanes_fill_lane(struct operand_lanes *operands, size_t unit, size_t lane, const double *values);

#endif
