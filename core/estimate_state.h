// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_STATE_H
#define TOPDOWND_CORE_ESTIMATE_STATE_H

// What the files of estimate share: estimate.c makes it and says what it knows, estimate_round.c takes rounds in.
//
// What is kept: each CPU's extrapolated counts of the round before, each scope's recent mean of them (where derivatives
// are taken), and a spread per scope and metric. All of a row's places are looked up when it is made.

#include "core/estimate.h"

// Exponentially weighted means over rounds; the first ones weigh the same, so that there is no start to forget.
struct estimate_spread {
    double rounds;   // so far
    double weights2; // sum of the squared weights: one over the number of rounds that count
    double variance; // of a round's residual, summed over the scope's cores
    double squares;  // of each core's term squared: how many cores carry the variance
    double floor;    // standard error by rounding to fields
    double stretch;  // by how much the last round's errors weigh more than a usual round's, at least 1
};

// An event of a formula that its unit counts.
struct estimate_counted {
    double slope; // of the metric by this event
    size_t place; // of its count within a row
};

struct estimate {
    const struct plan *plan;
    const struct topology *topology;
    double memory_rounds;
    size_t row, n_scopes;
    size_t *first;                   // [unit]: of its values within a row
    bool *fields;                    // [row]: a field of PERF_METRICS; at a unit's first value: the unit has some
    size_t *places;                  // [metric][variable of its formula]: within a row; 0: nothing that its unit counts
    size_t *first_place;             // [metric]: of its places
    unsigned *cpus;                  // ascending, then once more by socket: see cpus_of
    size_t *socket_cpus;             // [socket]: where its CPUs begin in that; one more for the end
    double *previous;                // [cpu][row]: of the last round with data, extrapolated
    double *share;                   // [cpu][unit]: of that round's time that was covered; 0: no such round
    double *mean;                    // [scope][row]
    double *mean_rounds;             // [scope][unit]: that the mean is of
    struct estimate_spread *spreads; // [scope][metric]

    // of the round
    double *now;                      // [cpu][row]: extrapolated
    double *now_share;                // [cpu][unit]
    double *rounding;                 // [cpu][unit]: standard error of one field's count
    double *sums;                     // [row]: of one scope
    double *dense;                    // [catalog event]
    double *at;                       // [catalog metric]: its value at the scope's mean
    double *stretch;                  // [catalog metric]: see struct estimate_spread
    double *slopes;                   // of one metric: by event, then by metric
    struct estimate_counted *counted; // of one metric: those that it varies with
    double *difference;               // [catalog metric][cpu]: of residuals
    double *covered;                  // [catalog metric][cpu]: share of time; -1: no difference
    double *core;                     // [core]: of one metric's differences, 0 in between
    double *rounded;                  // [catalog metric][cpu]: standard error by rounding
};

// The scope that a scope's estimates are kept under: the only socket has what the host has.
static inline size_t estimate_own_scope(const struct estimate *e, size_t scope) {
    return scope == 1 && e->topology->n_sockets == 1 ? 0 : scope;
}

// True for a field of PERF_METRICS.
static inline bool estimate_is_field(const struct plan *plan, unsigned event) {
    return plan->catalog->events[event].resident && plan->needs[event].free;
}

#endif
