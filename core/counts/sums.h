// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_SUMS_H
#define TOPDOWND_CORE_COUNTS_SUMS_H

// The counts of each CPU's last round, extrapolated to a time that is the same for all CPUs, and summed over the CPUs
// of each scope. Scopes are in batches, for formulas that are evaluated in lanes. Of the CPUs' own sums only one
// batch's are kept, so that they are still in the caches when they are used: each batch of CPUs is taken and used in
// turn, then those of host and sockets, which need all CPUs.

#include "core/counts/cells.h"
#include "core/counts/scopes.h"

// The basis of a unit's sums in a scope.
struct sums_cell {
    double running_seconds; // on the counters
    double elapsed_seconds; // of the CPUs online
    double windows;
    double share; // of these seconds on the counters, at most 1
    bool data;    // some CPU had data
};

struct sums {
    const struct rows *rows; // borrowed, like the scopes
    const struct scopes *scopes;
    size_t n_shared;         // host and sockets: the first scopes, each a batch
    struct sums_cell *cells; // [shared scope, then the CPUs of the batch at hand][unit]
    struct lanes *values;    // [shared scope, then the batch at hand][value of a row]
};

// `rows` and `scopes` must outlive it. NULL if out of memory.
struct sums *sums_new(const struct rows *rows, const struct scopes *scopes);
struct sums *sums_free(struct sums *sums);

// Sets the sums to the CPUs' last rounds, each extrapolated to the same time: begins; takes a batch of CPUs, whose sums
// are valid until the next one is taken; ends, after which those of host and sockets are valid.
void sums_begin(struct sums *sums);
void sums_take_batch(struct sums *sums, const struct cells *cells, size_t batch, double seconds);
void sums_end(struct sums *sums);

// Where those of a shared batch, or the batch at hand, are; and those of a scope of them.
static inline size_t sums_row_index(const struct sums *sums, size_t batch) {
    return (batch < sums->n_shared ? batch : sums->n_shared) * sums->rows->n_values;
}
static inline size_t sums_index(const struct sums *sums, size_t scope, size_t unit) {
    size_t row = scope < sums->n_shared ? scope : sums->n_shared + (scope - sums->n_shared) % LANES;
    return row * sums->rows->n_units + unit;
}

static inline const struct lanes *sums_row(const struct sums *sums, size_t batch) {
    return &sums->values[sums_row_index(sums, batch)];
}
static inline const struct sums_cell *sums_at(const struct sums *sums, size_t scope, size_t unit) {
    return &sums->cells[sums_index(sums, scope, unit)];
}

#endif
