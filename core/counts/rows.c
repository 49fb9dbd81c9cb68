// SPDX-License-Identifier: Apache-2.0
#include "core/counts/rows.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct rows *rows = self;
    rows->first = block_take(block, rows->n_units + 1, sizeof *rows->first);
}

struct rows *rows_new(const struct plan *plan) {
    struct rows *rows = block_new(&(struct rows){.plan = plan, .n_units = plan->n_units}, sizeof *rows, lay_out);
    if (!rows)
        return NULL;
    rows->core_unit = plan->catalog->level1.per_thread ? plan->level1_unit : -1;
    for (size_t u = 0; u < rows->n_units; u++) {
        rows->first[u] = rows->n_values;
        rows->n_values += 1 + plan->units[u].n_events;
        if ((int)u == rows->core_unit)
            rows->n_values += CORE_SLOTS_N + ROWS_ERROR_N;
    }
    rows->first[rows->n_units] = rows->n_values;
    return rows;
}

struct rows *rows_free(struct rows *rows) {
    free(rows);
    return NULL;
}

size_t rows_place_in_unit(const struct rows *rows, size_t unit, unsigned event) {
    const struct plan_unit *of = &rows->plan->units[unit];
    for (size_t i = 0; i < of->n_events; i++)
        if (of->events[i] == event)
            return 1 + i;
    for (size_t i = 0; (int)unit == rows->core_unit && i < CORE_SLOTS_N; i++)
        if (rows->plan->catalog->core_slots[i] == (int)event)
            return rows_core_slots(rows) + i;
    return 0;
}

size_t rows_place(const struct rows *rows, size_t unit, unsigned event) {
    size_t place = rows_place_in_unit(rows, unit, event);
    return place > 0 ? rows->first[unit] + place : 0;
}

bool rows_count_contention(const struct rows *rows) {
    const struct catalog *catalog = rows->plan->catalog;
    if (rows->core_unit < 0)
        return false;
    const struct formula *formula = catalog->metrics[catalog->level1.contention].formula;
    bool counted = true;
    for (size_t i = 0; i < formula->n_variables; i++)
        counted = counted && (catalog->events[formula->variables[i]].kind != EVENT_COUNTED ||
                              rows_place_in_unit(rows, (size_t)rows->core_unit, formula->variables[i]) > 0);
    return counted;
}
