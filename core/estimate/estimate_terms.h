// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_TERMS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_TERMS_H

// The metrics of one scope while a round is taken in, each after those it needs: how much the residuals of its CPUs
// differ from those of the previous round, and other sources of uncertainty.

#include "core/counts/operands.h"
#include "core/estimate/estimate_scope.h"
#include "core/estimate/estimate_spread.h"

struct estimate_term {
    double stretch;                      // see struct estimate_sample
    struct estimate_unseen unseen;       // missed by its windows
    double rounded[CATALOG_TOPDOWN_MAX]; // by field: standard error from rounding, signed; or [0]: from the estimate of
                                         // cores' pipeline slots
};

// Difference of a metric's residual on a CPU.
struct estimate_difference {
    double difference;
    double covered; // share of time; -1: no difference
};

// An event of a formula that its unit counts.
struct estimate_counted {
    double slope; // derivative of the metric by this event
    size_t place; // of its count in a row
};

struct estimate_terms {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    size_t *places;              // [metric of the plan][variable of its formula]: in a row; 0: not counted by its unit
    size_t *first_place;         // [metric of the plan]: the first of its places
    struct estimate_term *terms; // [catalog metric]
    struct estimate_difference *differences; // [catalog metric][cpu]
    // for one metric at a time
    double *slopes; // by event, then by metric
    struct estimate_counted *counted;
    size_t n_counted;
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_terms *estimate_terms_new(const struct rows *rows, size_t n_cpus);
struct estimate_terms *estimate_terms_free(struct estimate_terms *terms);

// Takes in metric `metric` of the plan. `at` has the scope's mean of the metric's unit and receives the metric's value
// there; `mean` is the scope's mean row; `unseen` is what the unit's windows missed. False if no CPU has a difference
// to its previous round.
bool estimate_terms_take(struct estimate_terms *terms, const struct estimate_scope *of, size_t metric,
                         struct operands *at, const double *mean, struct estimate_unseen unseen);

// The round's sample of it, after estimate_terms_take.
struct estimate_sample estimate_terms_sample(const struct estimate_terms *terms, const struct estimate_scope *of,
                                             size_t metric);

#endif
