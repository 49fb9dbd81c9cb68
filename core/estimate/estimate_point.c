// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_point.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct estimate_point *point = self;
    const struct catalog *catalog = point->rows->plan->catalog;
    point->counts = block_take(block, catalog->n_events, sizeof *point->counts);
    point->metrics = block_take(block, catalog->n_metrics, sizeof *point->metrics);
}

struct estimate_point *estimate_point_new(const struct rows *rows) {
    struct estimate_point point = {.rows = rows, .unit = PLAN_NOT_PLANNABLE};
    struct estimate_point *made = block_new(&point, sizeof point, lay_out);
    for (size_t m = 0; made && m < rows->plan->catalog->n_metrics; m++)
        made->metrics[m] = lanes_all(NAN);
    return made;
}

struct estimate_point *estimate_point_free(struct estimate_point *point) {
    free(point);
    return NULL;
}

void estimate_point_begin(struct estimate_point *point, const struct topology *topology,
                          const struct estimate_batch *batch, double seconds) {
    const struct catalog *catalog = point->rows->plan->catalog;
    bool whole = !batch->of_cpus && topology_whole_cores(topology, batch->index); // a CPU is none
    point->unit = PLAN_NOT_PLANNABLE;
    if (catalog->duration_event >= 0)
        point->counts[catalog->duration_event] = lanes_all(seconds);
    if (catalog->core_wide_event >= 0)
        point->counts[catalog->core_wide_event] = lanes_all(whole);
}

static void fill_unit(struct estimate_point *point, size_t unit, const struct lanes *values) {
    const struct plan_unit *of = &point->rows->plan->units[unit];
    point->counts[CATALOG_CPU_SECONDS] = values[0];
    for (size_t i = 0; i < of->n_events; i++)
        point->counts[of->events[i]] = values[1 + i];
}

// CPU seconds are those of the unit measured longest.
static void fill_combined(struct estimate_point *point, const struct lanes *row) {
    const struct rows *rows = point->rows;
    struct lanes seconds = lanes_all(0);
    for (size_t u = 0; u < rows->n_units; u++)
        for (size_t l = 0; l < LANES; l++)
            seconds.of[l] = lanes_max(row[rows_first(rows, u)].of[l], seconds.of[l]);
    point->counts[CATALOG_CPU_SECONDS] = seconds;
}

void estimate_point_fill(struct estimate_point *point, const struct formula *formula, int unit,
                         const struct lanes *row) {
    if (unit == point->unit || formula->n_variables == 0)
        return;
    if (unit >= 0)
        fill_unit(point, (size_t)unit, row + rows_first(point->rows, (size_t)unit));
    else if (formula->variables[0] == CATALOG_CPU_SECONDS) // variables ascend
        fill_combined(point, row);
    else
        return;
    point->unit = unit;
}
