// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_TERMS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_TERMS_H

// The metrics of one scope while a round is taken in, in an order in which each comes after those that it is made of:
// by how much the residuals of its CPUs differ from those of the round before, and what else makes it uncertain.

#include "core/counts/evaluation.h"
#include "core/estimate/estimate_scope.h"
#include "core/estimate/estimate_spread.h"

struct estimate_term {
    double stretch;                      // see struct estimate_sample
    struct estimate_unseen unseen;       // by its windows
    double rounded[CATALOG_TOPDOWN_MAX]; // field by field: standard error by rounding, signed
};

// Of a metric's residual on a CPU.
struct estimate_difference {
    double difference;
    double covered; // share of time; -1: there is no difference
};

// An event of a formula that its unit counts.
struct estimate_counted {
    double slope; // of the metric by this event
    size_t place; // of its count within a row
};

struct estimate_terms {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    size_t *places;      // [metric of the plan][variable of its formula]: within a row; 0: nothing that its unit counts
    size_t *first_place; // [metric of the plan]: of its places
    struct estimate_term *terms;             // [catalog metric]
    struct estimate_difference *differences; // [catalog metric][cpu]
    // of one metric at a time
    double *slopes; // by event, then by metric
    struct estimate_counted *counted;
    size_t n_counted;
};

// `rows` must outlive it. NULL where memory is short.
struct estimate_terms *estimate_terms_new(const struct rows *rows, size_t n_cpus);
struct estimate_terms *estimate_terms_free(struct estimate_terms *terms);

// Takes metric `metric` of the plan in. `at` has the scope's mean of the metric's unit, and the metric's value there is
// written to it; `mean` is the scope's mean row; `unseen` is what the unit's windows missed. False where no CPU has a
// difference to the round before.
bool estimate_terms_take(struct estimate_terms *terms, const struct estimate_scope *of, size_t metric,
                         struct evaluation *at, const double *mean, struct estimate_unseen unseen);

// What the round says of it then.
struct estimate_sample estimate_terms_sample(const struct estimate_terms *terms, const struct estimate_scope *of,
                                             size_t metric);

#endif
