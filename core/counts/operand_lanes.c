// SPDX-License-Identifier: Apache-2.0
#include "core/counts/operand_lanes.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct operand_lanes *operands = self;
    const struct catalog *catalog = operands->rows->plan->catalog;
    operands->counts = block_take(block, catalog->n_events, sizeof *operands->counts);
    operands->metrics = block_take(block, catalog->n_metrics, sizeof *operands->metrics);
}

struct operand_lanes *operand_lanes_new(const struct rows *rows) {
    struct operand_lanes operands = {.rows = rows, .unit = PLAN_NOT_PLANNABLE};
    struct operand_lanes *made = block_new(&operands, sizeof operands, lay_out);
    for (size_t m = 0; made && m < rows->plan->catalog->n_metrics; m++)
        made->metrics[m] = lanes_all(NAN);
    return made;
}

struct operand_lanes *operand_lanes_free(struct operand_lanes *operands) {
    free(operands);
    return NULL;
}

void operand_lanes_begin(struct operand_lanes *operands, double seconds, double core_wide) {
    const struct catalog *catalog = operands->rows->plan->catalog;
    operands->unit = PLAN_NOT_PLANNABLE;
    if (catalog->duration_event >= 0)
        operands->counts[catalog->duration_event] = lanes_all(seconds);
    if (catalog->core_wide_event >= 0)
        operands->counts[catalog->core_wide_event] = lanes_all(core_wide);
}

static struct lanes of_all_cpus(const struct operand_lanes *operands, struct lanes seconds) {
    for (size_t l = 0; l < LANES; l++)
        seconds.of[l] *= plan_cpus_each(operands->rows->plan);
    return seconds;
}

static void fill_unit(struct operand_lanes *operands, size_t unit, const struct lanes *values) {
    const struct plan_unit *of = &operands->rows->plan->units[unit];
    operands->counts[CATALOG_CPU_SECONDS] = of_all_cpus(operands, values[0]);
    for (size_t i = 0; i < of->n_events; i++)
        operands->counts[of->events[i]] = values[1 + i];
    const int *core_slots = operands->rows->plan->catalog->core_slots;
    for (size_t i = 0; (int)unit == operands->rows->core_unit && i < CORE_SLOTS_N; i++)
        if (core_slots[i] >= 0)
            operands->counts[core_slots[i]] = values[rows_core_slots(operands->rows) + i];
}

// CPU seconds are those of the unit measured longest.
static void fill_combined(struct operand_lanes *operands, const struct lanes *row) {
    const struct rows *rows = operands->rows;
    struct lanes seconds = lanes_all(0);
    for (size_t u = 0; u < rows->n_units; u++)
        for (size_t l = 0; l < LANES; l++)
            seconds.of[l] = lanes_max(row[rows_first(rows, u)].of[l], seconds.of[l]);
    operands->counts[CATALOG_CPU_SECONDS] = of_all_cpus(operands, seconds);
}

void operand_lanes_fill(struct operand_lanes *operands, const struct formula *formula, int unit,
                        const struct lanes *row) {
    if (unit == operands->unit || formula->n_variables == 0)
        return;
    if (unit >= 0)
        fill_unit(operands, (size_t)unit, row + rows_first(operands->rows, (size_t)unit));
    else if (formula->variables[0] == CATALOG_CPU_SECONDS) // variables ascend
        fill_combined(operands, row);
    else
        return;
    operands->unit = unit;
}

void operand_lanes_fill_lane(struct operand_lanes *operands, size_t unit, size_t lane, const double *values) {
    const struct rows *rows = operands->rows;
    const struct catalog *catalog = rows->plan->catalog;
    const unsigned *events = rows->plan->units[unit].events;
    struct lanes *counts = operands->counts;
    if (catalog->duration_event >= 0)
        counts[catalog->duration_event].of[lane] = values[0];
    if (catalog->core_wide_event >= 0)
        counts[catalog->core_wide_event].of[lane] = 0;
    counts[CATALOG_CPU_SECONDS].of[lane] = values[0];
    for (size_t i = 0, n = rows->plan->units[unit].n_events; i < n; i++)
        counts[events[i]].of[lane] = values[1 + i];
    for (size_t i = 0; (int)unit == rows->core_unit && i < CORE_SLOTS_N; i++)
        if (catalog->core_slots[i] >= 0)
            counts[catalog->core_slots[i]].of[lane] = values[rows_core_slots(rows) + i];
}
