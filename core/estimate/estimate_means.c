// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_means.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/estimate/estimate_spread.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_means *means = self;
    const struct rows *rows = means->rows;
    means->means = block_take(block, means->n_batches * rows->n_values, sizeof *means->means);
    means->n_rounds = block_take(block, means->n_batches * rows->n_units, sizeof *means->n_rounds);
    means->sums = block_take(block, rows->n_values, sizeof *means->sums);
}

struct estimate_means *estimate_means_new(const struct rows *rows, size_t n_batches) {
    struct estimate_means means = {.rows = rows, .n_batches = n_batches};
    return block_new(&means, sizeof means, lay_out);
}

struct estimate_means *estimate_means_free(struct estimate_means *means) {
    free(means);
    return NULL;
}

void estimate_means_forget(struct estimate_means *means, size_t first) {
    size_t n = means->n_batches - first, n_values = means->rows->n_values, n_units = means->rows->n_units;
    memset(means->means + first * n_values, 0, n * n_values * sizeof *means->means);
    memset(means->n_rounds + first * n_units, 0, n * n_units * sizeof *means->n_rounds);
}

// Sums the CPUs' n values of a unit.
static void sum_unit(const struct estimate_batch *batch, size_t unit, size_t n, struct lanes *sums) {
    struct estimate_part part;
    size_t at = 0;
    if (batch->of_cpus) {
        memcpy(sums, estimate_rounds_now(batch->rounds, batch->block, unit), n * sizeof *sums);
        return;
    }
    memset(sums, 0, n * sizeof *sums);
    while (estimate_batch_next(batch, &at, &part)) {
        const struct lanes *now = estimate_rounds_now(batch->rounds, part.block, unit);
        for (size_t i = 0; i < n; i++)
            lanes_add_product(&sums[i], &now[i], &part.in);
    }
    for (size_t i = 0; i < n; i++)
        sums[i] = estimate_batch_join(batch, &sums[i]);
}

static void move_unit(struct estimate_means *means, const struct estimate_batch *batch, size_t unit) {
    const struct rows *rows = means->rows;
    size_t first = rows_first(rows, unit), n = rows_n(rows, unit), n_units = rows->n_units;
    const struct estimate_rounds *rounds = batch->rounds;
    struct lanes *mean = means->means + batch->index * rows->n_values + first;
    struct lanes data = estimate_batch_sum(batch, &estimate_rounds_cell(rounds, 0, unit)->share, ESTIMATE_CELL_LANES);
    struct lanes weight = estimate_weigh(&means->n_rounds[batch->index * n_units + unit], &data, batch->memory_rounds);
    struct lanes *sums = means->sums + first;
    sum_unit(batch, unit, n, sums);
    for (size_t i = 0; i < n; i++)
        estimate_move(&mean[i], &sums[i], &weight);
}

void estimate_means_move(struct estimate_means *means, const struct estimate_batch *batch) {
    for (size_t u = 0; u < means->rows->n_units; u++)
        move_unit(means, batch, u);
}
