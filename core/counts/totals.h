// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_TOTALS_H
#define TOPDOWND_CORE_COUNTS_TOTALS_H

// Totals of all scopes, kept from round to round. An amount added to a CPU is also added to its socket and the host.

#include "core/base/total.h"
#include "core/counts/scopes.h"

struct totals {
    const struct scopes *scopes; // borrowed
    size_t first_field;          // fields are numbered from here; the caller chooses
    size_t n_fields;
    double *sums, *rounded_away; // [scope][field]: of struct total
};

// `scopes` must outlive it. NULL if out of memory.
struct totals *totals_new(const struct scopes *scopes, size_t first_field, size_t n_fields);
struct totals *totals_free(struct totals *totals);

static inline size_t totals_index(const struct totals *totals, size_t scope, size_t field) {
    return scope * totals->n_fields + (field - totals->first_field);
}

// Adds to a field of the CPU, its socket and the host; `amount` is not 0.
void totals_add_amount(struct totals *totals, size_t cpu, size_t field, double amount);
static inline void totals_add(struct totals *totals, size_t cpu, size_t field, double amount) {
    if (amount != 0)
        totals_add_amount(totals, cpu, field, amount);
}

// The same for n fields from `field` on.
void totals_add_amounts(struct totals *totals, size_t cpu, size_t field, size_t n, const double *amounts);

// Adds to a field of one scope alone: for a CPU that is no longer measured.
void totals_add_scope(struct totals *totals, size_t scope, size_t field, double amount);

// Writes n totals of a scope from `field` on.
void totals_write(const struct totals *totals, size_t scope, size_t field, size_t n, double *values);
// Copies n totals from those of another plan or topology.
void totals_copy(struct totals *totals, size_t scope, size_t field, const struct totals *from, size_t from_scope,
                 size_t from_field, size_t n);

#endif
