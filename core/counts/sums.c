// SPDX-License-Identifier: Apache-2.0
#include "core/counts/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct sums *sums = self;
    sums->n_shared = scope_of_cpu(sums->scopes->topology, 0);
    sums->cells = block_take(block, (sums->n_shared + LANES) * sums->rows->n_units, sizeof *sums->cells);
    sums->values = block_take(block, (sums->n_shared + 1) * sums->rows->n_values, sizeof *sums->values);
}

struct sums *sums_new(const struct rows *rows, const struct scopes *scopes) {
    return block_new(&(struct sums){.rows = rows, .scopes = scopes}, sizeof(struct sums), lay_out);
}

struct sums *sums_free(struct sums *sums) {
    free(sums);
    return NULL;
}

static struct sums_cell *cell_of(struct sums *sums, size_t scope, size_t unit) {
    return &sums->cells[sums_index(sums, scope, unit)];
}

static struct lanes *values_of(struct sums *sums, size_t scope, size_t unit) {
    size_t batch = scope_batch(sums->scopes->topology, scope);
    return &sums->values[sums_row_index(sums, batch) + rows_first(sums->rows, unit)];
}

// The CPU's seconds are exact also where a held core's counts are not.
static void add_values(struct sums *sums, const struct cells *cells, size_t cpu, size_t unit, double seconds) {
    const double *values = cells_values(cells, cpu, unit);
    double own_seconds = cells_seconds(cells, cpu, unit);
    double factor = cells_factor(cells, cpu, unit, own_seconds), same = seconds / own_seconds;
    bool held = cells_held(cells, cpu, unit);
    struct cpu_scopes scopes = scopes_of_cpu(sums->scopes, cpu);
    struct lanes *host = values_of(sums, scopes.scope[0], unit), *socket = values_of(sums, scopes.scope[1], unit);
    struct lanes *own = values_of(sums, scopes.scope[2], unit);
    size_t lane = scope_lane(sums->scopes->topology, scopes.scope[2]);
    for (size_t s = 0; s < SCOPES_OF_CPU; s++)
        cell_of(sums, scopes.scope[s], unit)->data = true;
    for (size_t i = 0, n = rows_n(sums->rows, unit); i < n; i++) {
        // in this order a recording gives the bits that its writer showed
        double extrapolated = held ? values[i] * factor : values[i] * own_seconds / values[0];
        extrapolated = held && i == 0 ? seconds : extrapolated * same;
        host[i].of[0] += extrapolated;
        socket[i].of[0] += extrapolated;
        own[i].of[lane] += extrapolated;
    }
}

static void add_basis(struct sums *sums, const struct cells *cells, size_t cpu, size_t unit) {
    struct cpu_scopes scopes = scopes_of_cpu(sums->scopes, cpu);
    const struct cell *cell = cells_at(cells, cpu, unit);
    for (size_t s = 0; s < SCOPES_OF_CPU; s++) {
        struct sums_cell *to = cell_of(sums, scopes.scope[s], unit);
        to->running_seconds += cell->running_seconds;
        to->windows += cell->n_windows;
        to->elapsed_seconds += cells->offline[cpu] ? 0 : cells_seconds(cells, cpu, unit);
    }
}

static void find_shares(struct sums *sums, size_t first, size_t n) {
    struct sums_cell *cells = sums->cells + first * sums->rows->n_units;
    for (size_t i = 0; i < n * sums->rows->n_units; i++)
        cells[i].share = fmin(cells[i].running_seconds / cells[i].elapsed_seconds, 1);
}

void sums_begin(struct sums *sums) {
    memset(sums->cells, 0, sums->n_shared * sums->rows->n_units * sizeof *sums->cells);
    memset(sums->values, 0, sums->n_shared * sums->rows->n_values * sizeof *sums->values);
}

void sums_take_batch(struct sums *sums, const struct cells *cells, size_t batch, double seconds) {
    struct scope_range scopes = scopes_of_batch(sums->scopes->topology, batch);
    memset(sums->cells + sums->n_shared * sums->rows->n_units, 0, LANES * sums->rows->n_units * sizeof *sums->cells);
    memset(sums->values + sums->n_shared * sums->rows->n_values, 0, sums->rows->n_values * sizeof *sums->values);
    for (size_t l = 0; l < scopes.n; l++) {
        size_t cpu = scopes.first + l - sums->n_shared;
        for (size_t u = 0; u < sums->rows->n_units; u++) {
            if (!(cells_seconds(cells, cpu, u) > 0))
                continue; // no round yet
            if (cells_data(cells, cpu, u))
                add_values(sums, cells, cpu, u, seconds);
            add_basis(sums, cells, cpu, u);
        }
    }
    find_shares(sums, sums->n_shared, LANES);
}

void sums_end(struct sums *sums) {
    find_shares(sums, 0, sums->n_shared);
    for (size_t i = 0; i < sums->n_shared * sums->rows->n_values; i++)
        sums->values[i] = lanes_all(sums->values[i].of[0]);
}
