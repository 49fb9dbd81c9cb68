// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H

// How much rounds differ: exponentially weighted means over rounds. The first ones weigh the same, so that there is no
// start to forget.

#include <math.h>
#include <stddef.h>

// The share of what happened that windows demonstrably missed.
struct estimate_unseen {
    double round, mean; // in the last round; in the mean of rounds
};

// What one round says of a metric in a scope.
struct estimate_sample {
    double variance;               // of the round's residual, summed over the scope's cores
    double squares;                // of each core's term squared: how many cores carry the variance
    double floor;                  // standard error by rounding to fields
    double stretch;                // by how much its errors weigh more than a usual round's, at least 1
    struct estimate_unseen unseen; // by the metric's windows
};

struct estimate_spread {
    double rounds;               // so far
    double weights2;             // sum of the squared weights: one over the number of rounds that count
    struct estimate_sample mean; // stretch and unseen: of the last round
};

struct estimate_spreads {
    size_t n_scopes, n_metrics;
    struct estimate_spread *spreads; // [scope][metric of the plan]
};

// NULL where memory is short.
struct estimate_spreads *estimate_spreads_new(size_t n_scopes, size_t n_metrics);
struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads);

static inline struct estimate_spread *estimate_spreads_at(const struct estimate_spreads *spreads, size_t scope,
                                                          size_t metric) {
    return &spreads->spreads[scope * spreads->n_metrics + metric];
}

void estimate_spread_move(struct estimate_spread *spread, const struct estimate_sample *sample, double memory_rounds);

// What the newest of so many values weighs in their mean.
static inline double estimate_weight(double rounds, double memory_rounds) {
    return fmax(1 / rounds, 1 / memory_rounds);
}
// Into the sum of squared weights.
static inline double estimate_weights2(double weights2, double weight) {
    return (1 - weight) * (1 - weight) * weights2 + weight * weight;
}

#endif
