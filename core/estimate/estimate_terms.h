// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_TERMS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_TERMS_H

// The metrics of one batch of scopes while a round is taken in, each after those it needs: how much the residuals of
// its CPUs differ from those of the previous round, and other sources of uncertainty.

#include "core/counts/operand_lanes.h"
#include "core/estimate/estimate_means.h"
#include "core/estimate/estimate_shared.h"
#include "core/estimate/estimate_spread.h"

struct estimate_term {
    struct estimate_sample sample;
    struct lanes rounded[CATALOG_TOPDOWN_MAX]; // by field: standard error from rounding, signed; or the first
                                               // two: from the estimate of cores' pipeline slots
    struct lanes varied[CATALOG_TOPDOWN_MAX];  // of fields: likewise, what averages out over windows, of a round
};

// Differences of a metric's residuals on a block of CPUs.
struct estimate_difference {
    struct lanes difference;
    struct lanes covered; // share of time; -1: no difference
};

struct estimate_terms {
    const struct rows *rows; // borrowed
    size_t n_blocks;
    size_t *places;      // [metric of the plan][variable of its formula]: among its unit's values; 0: not counted by it
    size_t *first_place; // [metric of the plan]: the first of its places
    struct estimate_term *terms;             // [catalog metric]
    size_t *needed;                          // [catalog metric]: by another metric of the plan, numbered from 1; else 0
    struct estimate_difference *differences; // [needed metric][block of CPUs]
    const struct estimate_shared *shared;    // borrowed
    // for one metric at a time
    struct lanes *slopes; // by event, then by metric
    struct formula_node *nodes;
    struct lanes value; // at the point
    struct lanes beta;  // how much it changes with the event that its unit shares
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_terms *estimate_terms_new(const struct rows *rows, const struct estimate_shared *shared,
                                          size_t n_blocks);
struct estimate_terms *estimate_terms_free(struct estimate_terms *terms);

// True if metrics may have a floor of the standard error.
bool estimate_terms_floors(const struct catalog *catalog);

// Takes in metric `metric` of the plan. `at` has the batch's mean of the metric's unit and receives the metric's value
// there; `means` have taken the batch in; `unseen` is what its unit's windows missed. Returns the round's sample of it,
// valid until the next batch; `data` gets lanes above 0 where some CPU has a difference to its previous round.
const struct estimate_sample *estimate_terms_take(struct estimate_terms *terms, const struct estimate_batch *batch,
                                                  size_t metric, struct operand_lanes *at,
                                                  const struct estimate_means *means,
                                                  const struct estimate_unseen *unseen, struct lanes *data);

#endif
