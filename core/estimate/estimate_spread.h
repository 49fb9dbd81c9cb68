// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SPREAD_H

// How much rounds differ: exponentially weighted means over rounds. The first rounds have equal weights, so that no
// initial value needs to decay.

#include <math.h>
#include <stddef.h>

// The share of what happened that windows demonstrably missed, and on how few of them rests what they saw.
struct estimate_unseen {
    double round, mean; // in the last round; in the mean over rounds
    double windows;     // the effective number of windows
};

// One round's contribution for a metric in a scope.
struct estimate_sample {
    double variance;               // of the round's residual, summed over the scope's cores
    double squares;                // sum of each core's squared term: tells how many cores contribute
    double common;                 // more of it, of what the cores have in common; on average 0 if they have nothing
    double uncovered;              // share of time that windows did not cover
    double floor;                  // standard error from rounding to fields
    double stretch;                // factor of its errors over a usual round's, at least 1
    struct estimate_unseen unseen; // missed by the metric's windows
};

struct estimate_spread {
    double rounds;               // so far
    double weights2;             // sum of the squared weights: 1 / effective number of rounds
    struct estimate_sample mean; // except uncovered, stretch and unseen, which are the last round's
};

struct estimate_spreads {
    size_t n_scopes, n_metrics;
    struct estimate_spread *spreads; // [scope][metric of the plan]
};

// NULL if out of memory.
struct estimate_spreads *estimate_spreads_new(size_t n_scopes, size_t n_metrics);
struct estimate_spreads *estimate_spreads_free(struct estimate_spreads *spreads);

static inline struct estimate_spread *estimate_spreads_at(const struct estimate_spreads *spreads, size_t scope,
                                                          size_t metric) {
    return &spreads->spreads[scope * spreads->n_metrics + metric];
}

void estimate_spread_move(struct estimate_spread *spread, const struct estimate_sample *sample, double memory_rounds);

// The weight of the newest of `rounds` values in their mean.
static inline double estimate_weight(double rounds, double memory_rounds) {
    return fmax(1 / rounds, 1 / memory_rounds);
}
// The sum of squared weights after a value of this weight.
static inline double estimate_weights2(double weights2, double weight) {
    return (1 - weight) * (1 - weight) * weights2 + weight * weight;
}

#endif
