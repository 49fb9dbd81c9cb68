// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H

// How much rounds differ, in the lanes of a batch of scopes: exponentially weighted means over rounds. The first rounds
// have equal weights, so that no initial value needs to decay.

#include <math.h>

#include "core/counts/cells.h"

// The share of what happened that windows demonstrably missed, and on how few of them rests what they saw.
struct estimate_unseen {
    struct lanes round, mean;               // in the last round; in the mean over rounds
    struct lanes windows;                   // the effective number of windows; 0: too few
    struct lanes round_strata, mean_strata; // how far off the share is of what happened while the core slept
};

static inline struct estimate_unseen estimate_nothing_unseen(void) {
    return (struct estimate_unseen){lanes_all(0), lanes_all(0), lanes_all(INFINITY), lanes_all(0), lanes_all(0)};
}

// What the cores of a scope have together.
struct estimate_together {
    struct lanes common;   // more of the variance, of what they have in common; on average 0 if they have nothing
    struct lanes alike;    // the part of the variance that blocks of cores do not have; likewise
    struct lanes change;   // the part of the variance that is of a change of all cores, which is no error; likewise
    struct lanes balanced; // as alike, of the rest
    struct lanes
        hidden[CELL_SIGNS]; // more of the variance, by what idle pieces hide of events that units share; likewise
    struct lanes whole;     // the share of the cores that blocks compare
    struct lanes uncovered; // share of time that windows did not cover
};

// One round's contribution for a metric in the scopes of a batch.
struct estimate_sample {
    struct lanes variance;             // of the round's residual, summed over the scope's cores
    struct lanes squares;              // sum of each core's squared term: tells how many cores contribute
    struct lanes within;               // more of the variance, told by how units differ within the round
    struct lanes within_degrees;       // of freedom of that
    struct lanes floor;                // standard error from rounding to fields, or from the estimate of cores' slots
    struct lanes stretch;              // factor of its errors over a usual round's, at least 1
    struct estimate_unseen unseen;     // missed by the metric's windows
    struct estimate_together together; // not of single CPUs
};

struct estimate_spread {
    struct lanes rounds;                     // so far
    struct lanes weights2;                   // sum of the squared weights: 1 / effective number of rounds
    struct lanes variance, squares;          // means over rounds
    struct lanes within, within2;            // likewise, and of its square
    struct lanes within_now, within_degrees; // of the last round
    struct lanes stretch;                    // of the last round, like the rest
    struct estimate_unseen unseen;
};

// Most scopes are single CPUs, and few catalogs have floors, so these are apart.
struct estimate_spreads {
    size_t n_batches, n_shared;      // n_shared: the first batches, whose scopes may have several cores
    size_t n_metrics, n_cpu_metrics; // of the plan; of these, the first ones, those of single CPUs
    struct estimate_spread *spreads; // [batch][metric that its scopes have]
    bool has_floors;
    struct lanes *floors;                // [batch][metric], if there are any: means
    struct estimate_together *togethers; // [shared batch][metric]: means; `uncovered` of the last round
};

// NULL if out of memory.
struct estimate_spreads *estimate_spreads_new(size_t n_batches, size_t n_shared, const struct plan *plan);
struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads);

static inline size_t estimate_spreads_index(const struct estimate_spreads *spreads, size_t batch, size_t metric) {
    size_t shared = batch < spreads->n_shared ? batch : spreads->n_shared;
    return shared * spreads->n_metrics + (batch - shared) * spreads->n_cpu_metrics + metric;
}

static inline struct estimate_spread *estimate_spreads_at(const struct estimate_spreads *spreads, size_t batch,
                                                          size_t metric) {
    return &spreads->spreads[estimate_spreads_index(spreads, batch, metric)];
}

// NULL: no metric has any.
static inline struct lanes *estimate_spreads_floor(const struct estimate_spreads *spreads, size_t batch,
                                                   size_t metric) {
    return spreads->has_floors ? &spreads->floors[estimate_spreads_index(spreads, batch, metric)] : NULL;
}
// NULL for single CPUs.
static inline struct estimate_together *estimate_spreads_together(const struct estimate_spreads *spreads, size_t batch,
                                                                  size_t metric) {
    return batch < spreads->n_shared ? &spreads->togethers[batch * spreads->n_metrics + metric] : NULL;
}

// Forgets all rounds of the batches from `first` on, which is none of the shared ones.
void estimate_spreads_forget(struct estimate_spreads *spreads, size_t first);

// Takes a metric's round in, in the lanes with `data` above 0.
void estimate_spreads_move(struct estimate_spreads *spreads, size_t batch, size_t metric,
                           const struct estimate_sample *sample, const struct lanes *data, double memory_rounds);

// Counts one more round in the lanes with `data` above 0. Returns the weight of the newest value in the mean, 0 in
// others.
struct lanes estimate_weigh(struct lanes *rounds, const struct lanes *data, double memory_rounds);
// Moves means towards a new value of this weight, and the sums of squared weights.
void estimate_move(struct lanes *mean, const struct lanes *value, const struct lanes *weight);
void estimate_move_weights2(struct lanes *weights2, const struct lanes *weight);

#endif
