// SPDX-License-Identifier: Apache-2.0
#include "core/counts/evaluation.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct evaluation *evaluation = self;
    const struct catalog *catalog = evaluation->rows->plan->catalog;
    evaluation->counts = block_take(block, catalog->n_events, sizeof *evaluation->counts);
    evaluation->metrics = block_take(block, catalog->n_metrics, sizeof *evaluation->metrics);
}

struct evaluation *evaluation_new(const struct rows *rows) {
    struct evaluation evaluation = {.rows = rows, .unit = PLAN_NOT_PLANNABLE};
    struct evaluation *made = block_new(&evaluation, sizeof evaluation, lay_out);
    for (size_t m = 0; made && m < rows->plan->catalog->n_metrics; m++)
        made->metrics[m] = NAN;
    return made;
}

struct evaluation *evaluation_free(struct evaluation *evaluation) {
    free(evaluation);
    return NULL;
}

void evaluation_begin(struct evaluation *evaluation, double seconds, double core_wide) {
    const struct catalog *catalog = evaluation->rows->plan->catalog;
    evaluation->unit = PLAN_NOT_PLANNABLE;
    if (catalog->duration_event >= 0)
        evaluation->counts[catalog->duration_event] = seconds;
    if (catalog->core_wide_event >= 0)
        evaluation->counts[catalog->core_wide_event] = core_wide;
}

void evaluation_fill(struct evaluation *evaluation, size_t unit, const double *values, double factor) {
    const struct plan_unit *of = &evaluation->rows->plan->units[unit];
    const unsigned *events = of->events;
    double *counts = evaluation->counts;
    counts[CATALOG_CPU_SECONDS] = values[0] * factor;
    for (size_t i = 0, n = of->n_events; i < n; i++)
        counts[events[i]] = values[1 + i] * factor;
    evaluation->unit = (int)unit;
}

void evaluation_fill_for(struct evaluation *evaluation, const struct formula *formula, int unit, const double *row) {
    const struct rows *rows = evaluation->rows;
    if (unit >= 0) {
        evaluation_fill(evaluation, (size_t)unit, row + rows_first(rows, (size_t)unit), 1);
        return;
    }
    if (formula->variables[0] != CATALOG_CPU_SECONDS) // variables ascend
        return;
    double seconds = 0;
    for (size_t u = 0; u < rows->n_units; u++)
        seconds = fmax(seconds, row[rows_first(rows, u)]);
    evaluation->counts[CATALOG_CPU_SECONDS] = seconds;
    evaluation->unit = unit;
}
