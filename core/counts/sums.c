// SPDX-License-Identifier: Apache-2.0
#include "core/counts/sums.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct sums *sums = self;
    sums->cells = block_take(block, sums->scopes->n * sums->rows->n_units, sizeof *sums->cells);
    sums->values = block_take(block, sums->scopes->n * sums->rows->n_values, sizeof *sums->values);
}

struct sums *sums_new(const struct rows *rows, const struct scopes *scopes) {
    return block_new(&(struct sums){.rows = rows, .scopes = scopes}, sizeof(struct sums), lay_out);
}

struct sums *sums_free(struct sums *sums) {
    free(sums);
    return NULL;
}

void sums_begin_round(struct sums *sums) {
    memset(sums->cells, 0, sums->scopes->n * sums->rows->n_units * sizeof *sums->cells);
    memset(sums->values, 0, sums->scopes->n * sums->rows->n_values * sizeof *sums->values);
}

static struct sums_cell *cell_of(struct sums *sums, size_t scope, size_t unit) {
    return &sums->cells[scope * sums->rows->n_units + unit];
}

static double *values_of(struct sums *sums, size_t scope, size_t unit) {
    return sums->values + scope * sums->rows->n_values + rows_first(sums->rows, unit);
}

void sums_add_values(struct sums *sums, const struct cells *cells, size_t cpu, size_t unit, double seconds) {
    const double *values = cells_values(cells, cpu, unit);
    struct cpu_scopes scopes = scopes_of_cpu(sums->scopes, cpu);
    double *host = values_of(sums, scopes.scope[0], unit), *socket = values_of(sums, scopes.scope[1], unit);
    double *own = values_of(sums, scopes.scope[2], unit);
    for (size_t s = 0; s < SCOPES_OF_CPU; s++)
        cell_of(sums, scopes.scope[s], unit)->data = true;
    for (size_t i = 0, n = rows_n(sums->rows, unit); i < n; i++) {
        double extrapolated = values[i] * seconds / values[0];
        host[i] += extrapolated;
        socket[i] += extrapolated;
        own[i] += extrapolated;
    }
}

void sums_add_basis(struct sums *sums, const struct cells *cells, size_t cpu, double seconds) {
    struct cpu_scopes scopes = scopes_of_cpu(sums->scopes, cpu);
    for (size_t u = 0; u < sums->rows->n_units; u++) {
        const struct cell *cell = cells_at(cells, cpu, u);
        for (size_t s = 0; s < SCOPES_OF_CPU; s++) {
            struct sums_cell *to = cell_of(sums, scopes.scope[s], u);
            to->running_seconds += cell->running_seconds;
            to->windows += cell->n_windows;
            to->elapsed_seconds += cells->offline[cpu] ? 0 : seconds;
        }
    }
}
