// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_SUMS_H
#define TOPDOWND_CORE_COUNTS_SUMS_H

// The counts of each CPU's last round, extrapolated to a time that is the same for all CPUs, and summed over the CPUs
// of each scope. Scopes are in batches, for formulas that are evaluated in lanes.

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
    struct sums_cell *cells; // [scope][unit]
    struct lanes *values;    // [batch of scopes][value of a row]
};

// `rows` and `scopes` must outlive it. NULL if out of memory.
struct sums *sums_new(const struct rows *rows, const struct scopes *scopes);
struct sums *sums_free(struct sums *sums);

// Sets the sums to the CPUs' last rounds, each extrapolated to `seconds`.
void sums_take(struct sums *sums, const struct cells *cells, double seconds);

static inline const struct lanes *sums_row(const struct sums *sums, size_t batch) {
    return sums->values + batch * sums->rows->n_values;
}
static inline const struct sums_cell *sums_at(const struct sums *sums, size_t scope, size_t unit) {
    return &sums->cells[scope * sums->rows->n_units + unit];
}

#endif
