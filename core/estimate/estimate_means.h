// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_MEANS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_MEANS_H

// Each scope's recent mean of extrapolated counts, the point at which derivatives are computed.

#include "core/estimate/estimate_scope.h"

struct estimate_means {
    const struct rows *rows; // borrowed
    size_t n_scopes;
    double *means;    // [scope][value of a row]
    double *n_rounds; // [scope][unit]: rounds in the mean
    double *sums;     // [value of a row]: for one scope and unit at a time
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_means *estimate_means_new(const struct rows *rows, size_t n_scopes);
struct estimate_means *estimate_means_free(struct estimate_means *means);

static inline const double *estimate_means_row(const struct estimate_means *means, size_t scope) {
    return means->means + scope * means->rows->n_values;
}

// Adds this round of a scope to its means.
void estimate_means_move(struct estimate_means *means, const struct estimate_scope *of);

#endif
