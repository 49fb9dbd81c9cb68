// SPDX-License-Identifier: Apache-2.0
#include "core/counts/totals.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct totals *totals = self;
    totals->totals = block_take(block, totals->scopes->n * totals->n_fields, sizeof *totals->totals);
}

struct totals *totals_new(const struct scopes *scopes, size_t first_field, size_t n_fields) {
    struct totals totals = {.scopes = scopes, .first_field = first_field, .n_fields = n_fields};
    return block_new(&totals, sizeof totals, lay_out);
}

struct totals *totals_free(struct totals *totals) {
    free(totals);
    return NULL;
}

void totals_add_amount(struct totals *totals, size_t cpu, size_t field, double amount) {
    struct cpu_scopes scopes = scopes_of_cpu(totals->scopes, cpu);
    for (size_t s = 0; s < SCOPES_OF_CPU; s++)
        total_add(totals_at(totals, scopes.scope[s], field), amount);
}

void totals_write(const struct totals *totals, size_t scope, size_t field, size_t n, double *values) {
    const struct total *from = totals_at(totals, scope, field);
    for (size_t i = 0; i < n; i++)
        values[i] = total_value(&from[i]);
}

void totals_copy(struct totals *totals, size_t scope, size_t field, const struct totals *from, size_t from_scope,
                 size_t from_field, size_t n) {
    if (n > 0)
        memcpy(totals_at(totals, scope, field), totals_at(from, from_scope, from_field), n * sizeof *totals->totals);
}
