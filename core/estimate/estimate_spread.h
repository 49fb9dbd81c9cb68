// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H

// How much rounds differ, in the lanes of a batch of scopes: exponentially weighted means over rounds. The first rounds
// have equal weights, so that no initial value needs to decay.

#include <math.h>

#include "core/base/lanes.h"

// The share of what happened that windows demonstrably missed, and on how few of them rests what they saw.
struct estimate_unseen {
    struct lanes round, mean; // in the last round; in the mean over rounds
    struct lanes windows;     // the effective number of windows
};

static inline struct estimate_unseen estimate_nothing_unseen(void) {
    return (struct estimate_unseen){lanes_all(0), lanes_all(0), lanes_all(INFINITY)};
}

// One round's contribution for a metric in the scopes of a batch.
struct estimate_sample {
    struct lanes variance;         // of the round's residual, summed over the scope's cores
    struct lanes squares;          // sum of each core's squared term: tells how many cores contribute
    struct lanes common;           // more of it, of what the cores have in common; on average 0 if they have nothing
    struct lanes alike;            // the part of the variance that blocks of cores do not have; likewise
    struct lanes uncovered;        // share of time that windows did not cover
    struct lanes floor;            // standard error from rounding to fields, or from the estimate of cores' slots
    struct lanes stretch;          // factor of its errors over a usual round's, at least 1
    struct estimate_unseen unseen; // missed by the metric's windows
};

struct estimate_spread {
    struct lanes rounds;         // so far
    struct lanes weights2;       // sum of the squared weights: 1 / effective number of rounds
    struct estimate_sample mean; // except uncovered, stretch and unseen, which are the last round's
};

struct estimate_spreads {
    size_t n_batches, n_metrics;
    struct estimate_spread *spreads; // [batch][metric of the plan]
};

// NULL if out of memory.
struct estimate_spreads *estimate_spreads_new(size_t n_batches, size_t n_metrics);
struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads);

static inline struct estimate_spread *estimate_spreads_at(const struct estimate_spreads *spreads, size_t batch,
                                                          size_t metric) {
    return &spreads->spreads[batch * spreads->n_metrics + metric];
}

// Takes in a round in the lanes with `data` above 0.
void estimate_spread_move(struct estimate_spread *spread, const struct estimate_sample *sample,
                          const struct lanes *data, double memory_rounds);

// Counts one more round in the lanes with `data` above 0. Returns the weight of the newest value in the mean, 0 in
// others.
struct lanes estimate_weigh(struct lanes *rounds, const struct lanes *data, double memory_rounds);
// Moves means towards a new value of this weight, and the sums of squared weights.
void estimate_move(struct lanes *mean, const struct lanes *value, const struct lanes *weight);
void estimate_move_weights2(struct lanes *weights2, const struct lanes *weight);

#endif
