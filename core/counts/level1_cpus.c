// SPDX-License-Identifier: Apache-2.0
#include "core/counts/level1_cpus.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct level1_cpus *level1 = self;
    level1->cpus = block_take(block, level1->scopes->topology->n_cpus, sizeof *level1->cpus);
    level1->next = block_take(block, level1->scopes->topology->n_cpus, sizeof *level1->next);
    level1->first_of = block_take(block, level1->scopes->topology->n_cores, sizeof *level1->first_of);
    level1->increase = block_take(block, level1->scopes->n * level1->n_categories, sizeof *level1->increase);
}

static void find_siblings(struct level1_cpus *level1) {
    const struct topology *topology = level1->scopes->topology;
    for (size_t core = 0; core < topology->n_cores; core++)
        level1->first_of[core] = topology->n_cpus;
    for (size_t cpu = topology->n_cpus; cpu-- > 0;) {
        size_t *first = &level1->first_of[topology->cpus[cpu].core];
        level1->next[cpu] = *first;
        *first = cpu;
    }
}

struct level1_cpus *level1_cpus_new(const struct rows *rows, const struct scopes *scopes) {
    struct level1_cpus level1 = {
        .rows = rows, .scopes = scopes, .n_categories = rows->plan->catalog->level1.n_categories};
    struct level1_cpus *made = block_new(&level1, sizeof level1, lay_out);
    if (!made)
        return NULL;
    find_siblings(made);
    made->windows = operand_lanes_new(rows);
    return made->windows ? made : level1_cpus_free(made);
}

struct level1_cpus *level1_cpus_free(struct level1_cpus *level1) {
    if (level1)
        operand_lanes_free(level1->windows);
    free(level1);
    return NULL;
}

void level1_cpus_continue(struct level1_cpus *level1, size_t cpu, const struct level1_cpus *old, size_t old_cpu) {
    level1->cpus[cpu].debt = old->cpus[old_cpu].debt;
}

void level1_cpus_begin_round(struct level1_cpus *level1, size_t cpu) {
    struct level1_cpu *of = &level1->cpus[cpu];
    *of = (struct level1_cpu){.span = of->span, .debt = of->debt};
}

void level1_cpus_take_window(struct level1_cpus *level1, size_t cpu, const double *values) {
    level1->cpu_of[level1->n_windows] = cpu;
    operand_lanes_fill_lane(level1->windows, (size_t)level1->rows->plan->level1_unit, level1->n_windows, values);
    if (++level1->n_windows == LANES)
        level1_cpus_end_windows(level1);
}

void level1_cpus_end_windows(struct level1_cpus *level1) {
    const struct catalog *catalog = level1->rows->plan->catalog;
    const struct operand_lanes *windows = level1->windows;
    size_t n = level1->n_windows;
    struct level1_split split;
    if (n == 0)
        return;
    level1->n_windows = 0;
    level1_split(catalog, windows->counts, windows->metrics, &split);
    struct lanes contention = level1_contention(catalog, windows->counts);
    for (size_t l = 0; l < n; l++) {
        struct level1_cpu *of = &level1->cpus[level1->cpu_of[l]];
        if (!split.possible[l])
            continue;
        of->seconds += windows->counts[CATALOG_CPU_SECONDS].of[l];
        of->contention += contention.of[l];
        for (size_t i = 0; i < level1->n_categories; i++)
            of->slots[i] += split.categories[i].of[l];
    }
}

const double *level1_cpus_advance(struct level1_cpus *level1, const struct cells *cells, size_t cpu,
                                  double limit_seconds, bool stalled) {
    struct level1_cpu *of = &level1->cpus[cpu];
    const struct cell_time *time = &cells->times[cpu];
    size_t unit = (size_t)level1->rows->plan->level1_unit;
    bool held = cells_held(cells, cpu, unit) && cells_data(cells, cpu, unit),
         data = !stalled && (held || of->seconds > 0);
    double slots[CATEGORY_N];
    struct span_step step = span_advance(&of->span, time->seconds, data, limit_seconds);
    if (!data)
        return NULL;
    double factor = held ? cells_factor(cells, cpu, unit, step.covered_seconds) : step.covered_seconds / of->seconds;
    for (size_t i = 0; i < level1->n_categories; i++)
        slots[i] = held ? of->slots[i] * factor : of->slots[i] * step.covered_seconds / of->seconds;
    of->contention_increase = of->contention * factor;
    level1_increase(slots, level1->n_categories, &of->debt, of->increase);
    of->increased = true;
    return of->increase;
}

void level1_cpus_sum(struct level1_cpus *level1, const struct cells *cells, double seconds) {
    size_t n = level1->n_categories;
    memset(level1->increase, 0, level1->scopes->n * n * sizeof *level1->increase);
    for (size_t cpu = 0; cpu < level1->scopes->topology->n_cpus; cpu++) {
        const struct level1_cpu *of = &level1->cpus[cpu];
        struct cpu_scopes scopes = scopes_of_cpu(level1->scopes, cpu);
        if (!of->increased || !(cells->times[cpu].seconds > 0))
            continue;
        for (size_t s = 0; s < SCOPES_OF_CPU; s++)
            for (size_t i = 0; i < n; i++)
                level1->increase[scopes.scope[s] * n + i] += of->increase[i] * (seconds / cells->times[cpu].seconds);
    }
}
