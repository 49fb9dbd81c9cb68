// SPDX-License-Identifier: Apache-2.0
#include "core/counts/totals.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct totals *totals = self;
    totals->sums = block_take(block, totals->scopes->n * totals->n_fields, sizeof *totals->sums);
    totals->rounded_away = block_take(block, totals->scopes->n * totals->n_fields, sizeof *totals->rounded_away);
}

struct totals *totals_new(const struct scopes *scopes, size_t first_field, size_t n_fields) {
    struct totals totals = {.scopes = scopes, .first_field = first_field, .n_fields = n_fields};
    return block_new(&totals, sizeof totals, lay_out);
}

struct totals *totals_free(struct totals *totals) {
    free(totals);
    return NULL;
}

void totals_add_scope(struct totals *totals, size_t scope, size_t field, double amount) {
    size_t at = totals_index(totals, scope, field);
    struct total total = {totals->sums[at], totals->rounded_away[at]};
    total_add(&total, amount);
    totals->sums[at] = total.sum;
    totals->rounded_away[at] = total.rounded_away;
}

void totals_add_amount(struct totals *totals, size_t cpu, size_t field, double amount) {
    struct cpu_scopes scopes = scopes_of_cpu(totals->scopes, cpu);
    for (size_t s = 0; s < SCOPES_OF_CPU; s++)
        totals_add_scope(totals, scopes.scope[s], field, amount);
}

// total_add for many: without branches, so that it is done with vector instructions. What rounding loses is exact
// either way (Knuth, "The Art of Computer Programming", volume 2, 4.2.2, theorem B). Adding 0 changes nothing.
static void add_all(double *restrict sums, double *restrict rounded_away, const double *restrict amounts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double sum = sums[i] + amounts[i], of_amount = sum - sums[i], of_sum = sum - of_amount;
        rounded_away[i] += (sums[i] - of_sum) + (amounts[i] - of_amount);
        sums[i] = sum;
    }
}

void totals_add_amounts(struct totals *totals, size_t cpu, size_t field, size_t n, const double *amounts) {
    struct cpu_scopes scopes = scopes_of_cpu(totals->scopes, cpu);
    for (size_t s = 0; s < SCOPES_OF_CPU; s++) {
        size_t at = totals_index(totals, scopes.scope[s], field);
        add_all(totals->sums + at, totals->rounded_away + at, amounts, n);
    }
}

void totals_write(const struct totals *totals, size_t scope, size_t field, size_t n, double *values) {
    size_t at = totals_index(totals, scope, field);
    const double *sums = totals->sums + at, *rounded_away = totals->rounded_away + at;
    for (size_t i = 0; i < n; i++)
        values[i] = sums[i] + rounded_away[i];
}

void totals_copy(struct totals *totals, size_t scope, size_t field, const struct totals *from, size_t from_scope,
                 size_t from_field, size_t n) {
    size_t to_at = totals_index(totals, scope, field), at = totals_index(from, from_scope, from_field);
    if (n == 0)
        return;
    memcpy(totals->sums + to_at, from->sums + at, n * sizeof *totals->sums);
    memcpy(totals->rounded_away + to_at, from->rounded_away + at, n * sizeof *totals->rounded_away);
}
