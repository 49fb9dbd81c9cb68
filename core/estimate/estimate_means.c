// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_means.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/estimate/estimate_spread.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_means *means = self;
    const struct rows *rows = means->rows;
    means->means = block_take(block, means->n_scopes * rows->n_values, sizeof *means->means);
    means->n_rounds = block_take(block, means->n_scopes * rows->n_units, sizeof *means->n_rounds);
    means->sums = block_take(block, rows->n_values, sizeof *means->sums);
}

struct estimate_means *estimate_means_new(const struct rows *rows, size_t n_scopes) {
    struct estimate_means means = {.rows = rows, .n_scopes = n_scopes};
    return block_new(&means, sizeof means, lay_out);
}

struct estimate_means *estimate_means_free(struct estimate_means *means) {
    free(means);
    return NULL;
}

static bool has_data(const struct estimate_scope *of, size_t unit) {
    for (size_t c = 0; c < of->in.n; c++)
        if (estimate_rounds_cell(of->rounds, of->in.cpus[c], unit)->share > 0)
            return true;
    return false;
}

static void move_unit(struct estimate_means *means, const struct estimate_scope *of, size_t unit) {
    size_t first = rows_first(means->rows, unit), n = rows_n(means->rows, unit);
    double *mean = means->means + of->scope * means->rows->n_values + first;
    if (!has_data(of, unit))
        return;
    memset(means->sums, 0, n * sizeof *means->sums);
    for (size_t c = 0; c < of->in.n; c++) {
        const double *now = estimate_rounds_now(of->rounds, of->in.cpus[c]) + first;
        for (size_t i = 0; i < n; i++)
            means->sums[i] += now[i];
    }
    double *n_rounds = &means->n_rounds[of->scope * means->rows->n_units + unit];
    double weight = estimate_weight(++*n_rounds, of->memory_rounds);
    for (size_t i = 0; i < n; i++)
        mean[i] += weight * (means->sums[i] - mean[i]);
}

void estimate_means_move(struct estimate_means *means, const struct estimate_scope *of) {
    for (size_t u = 0; u < means->rows->n_units; u++)
        move_unit(means, of, u);
}
