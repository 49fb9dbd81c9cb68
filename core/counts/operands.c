// SPDX-License-Identifier: Apache-2.0
#include "core/counts/operands.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct operands *operands = self;
    const struct catalog *catalog = operands->rows->plan->catalog;
    operands->counts = block_take(block, catalog->n_events, sizeof *operands->counts);
    operands->metrics = block_take(block, catalog->n_metrics, sizeof *operands->metrics);
}

struct operands *operands_new(const struct rows *rows) {
    struct operands operands = {.rows = rows, .unit = PLAN_NOT_PLANNABLE};
    struct operands *made = block_new(&operands, sizeof operands, lay_out);
    for (size_t m = 0; made && m < rows->plan->catalog->n_metrics; m++)
        made->metrics[m] = NAN;
    return made;
}

struct operands *operands_free(struct operands *operands) {
    free(operands);
    return NULL;
}

void operands_begin(struct operands *operands, double seconds, double core_wide) {
    const struct catalog *catalog = operands->rows->plan->catalog;
    operands->unit = PLAN_NOT_PLANNABLE;
    if (catalog->duration_event >= 0)
        operands->counts[catalog->duration_event] = seconds;
    if (catalog->core_wide_event >= 0)
        operands->counts[catalog->core_wide_event] = core_wide;
}

void operands_fill(struct operands *operands, size_t unit, const double *values, double factor) {
    const struct plan_unit *of = &operands->rows->plan->units[unit];
    const unsigned *events = of->events;
    double *counts = operands->counts;
    counts[CATALOG_CPU_SECONDS] = values[0] * factor * plan_cpus_each(operands->rows->plan);
    for (size_t i = 0, n = of->n_events; i < n; i++)
        counts[events[i]] = values[1 + i] * factor;
    for (size_t i = 0; (int)unit == operands->rows->core_unit && i < CORE_SLOTS_N; i++)
        if (operands->rows->plan->catalog->core_slots[i] >= 0)
            counts[operands->rows->plan->catalog->core_slots[i]] = values[rows_core_slots(operands->rows) + i] * factor;
    operands->unit = (int)unit;
}
