// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_ESTIMATE_STATE_H
#define TOPDOWND_CORE_TALLY_ESTIMATE_STATE_H

// What the files of estimate share: estimate.c makes it and says what it knows, estimate_round.c takes rounds in.
//
// What is kept: each CPU's extrapolated counts of the round before, each scope's recent mean of them (where derivatives
// are taken), and a spread per scope and metric. All of a row's places are looked up when it is made.

#include "core/tally/estimate.h"

// Where a unit's size is told (estimate_unseen.c).
struct estimate_same {
    size_t unit, place; // within a row
};
struct estimate_size {
    double rounds, weights2, differences; // as above; the last: how many rounds there was a difference in
    double own, all;                      // means of the unit's count, and of what all that count the event make of it
    double variance;                      // of a round's own count
};

// The share of what happened that windows demonstrably missed.
struct estimate_unseen {
    double round, mean; // in the last round; in the mean of rounds
};

// Exponentially weighted means over rounds; the first ones weigh the same, so that there is no start to forget.
struct estimate_spread {
    double rounds;                 // so far
    double weights2;               // sum of the squared weights: one over the number of rounds that count
    double variance;               // of a round's residual, summed over the scope's cores
    double squares;                // of each core's term squared: how many cores carry the variance
    double floor;                  // standard error by rounding to fields
    double stretch;                // by how much the last round's errors weigh more than a usual round's, at least 1
    struct estimate_unseen unseen; // by the metric's windows
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
    struct estimate_same *same;      // by unit: who counts the event that tells its size, itself first
    size_t *first_same;              // [unit]: of these; one more for the end
    struct estimate_size *sizes;     // [scope][unit]

    // of the round
    double *now;                            // [cpu][row]: extrapolated
    double *now_share;                      // [cpu][unit]
    double *rounding;                       // [cpu][unit]: standard error of one field's count
    double *sums;                           // [row]: of one scope
    double *dense;                          // [catalog event]
    double *at;                             // [catalog metric]: its value at the scope's mean
    double *stretch;                        // [catalog metric]: see struct estimate_spread
    double *slopes;                         // of one metric: by event, then by metric
    struct estimate_counted *counted;       // of one metric: those that it varies with
    double *difference;                     // [catalog metric][cpu]: of residuals
    double *covered;                        // [catalog metric][cpu]: share of time; -1: no difference
    double *core;                           // [core]: of one metric's differences, 0 in between
    double *rounded;                        // [catalog metric][field]: standard error of the scope by rounding, signed
    double *all;                            // [cpu][unit]: the count that tells its size, by all that count it
    struct estimate_unseen *unseen_units;   // [unit] of the scope
    struct estimate_unseen *unseen_metrics; // [catalog metric] of the scope
};

// CPUs of a scope, ascending.
struct estimate_cpus {
    const unsigned *cpus;
    size_t n;
};

// The scope that a scope's estimates are kept under: the only socket has what the host has.
static inline size_t estimate_own_scope(const struct estimate *e, size_t scope) {
    return scope == 1 && e->topology->n_sockets == 1 ? 0 : scope;
}

// True for a field of PERF_METRICS.
static inline bool estimate_is_field(const struct plan *plan, unsigned event) {
    return plan->catalog->events[event].resident && plan->needs[event].free;
}

// What a mean's next value weighs.
double estimate_weight(const struct estimate *e, double rounds);

// estimate_round.c: half the squared sum of e->core over the scope's cores, which are 0 then; their squares in
// *squares.
double estimate_take_cores(struct estimate *e, struct estimate_cpus in, double *squares);

// estimate_unseen.c: where sizes are told, once; a round's counts by all units; then scope by scope what was missed.
bool estimate_unseen_init(struct estimate *e);
void estimate_unseen_take_round(struct estimate *e);
void estimate_unseen_take_scope(struct estimate *e, size_t scope, struct estimate_cpus in);

#endif
