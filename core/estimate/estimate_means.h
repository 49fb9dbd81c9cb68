// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_MEANS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_MEANS_H

// Each scope's recent mean of extrapolated counts, the point at which derivatives are computed.

#include "core/estimate/estimate_batch.h"

struct estimate_means {
    const struct rows *rows; // borrowed
    size_t n_batches;
    struct lanes *means;    // [batch][value of a row]
    struct lanes *n_rounds; // [batch][unit]: rounds in the mean
    struct lanes *sums;     // [value of a row]: of this round, in the batch taken in last
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_means *estimate_means_new(const struct rows *rows, size_t n_batches);
struct estimate_means *estimate_means_free(struct estimate_means *means);

static inline const struct lanes *estimate_means_row(const struct estimate_means *means, size_t batch) {
    return means->means + batch * means->rows->n_values;
}

// The same of this round, in the batch taken in last.
static inline const struct lanes *estimate_means_sums(const struct estimate_means *means) { return means->sums; }

// Forgets all rounds of the batches from `first` on.
void estimate_means_forget(struct estimate_means *means, size_t first);

// Adds this round of a batch's scopes to their means.
void estimate_means_move(struct estimate_means *means, const struct estimate_batch *batch);

#endif
