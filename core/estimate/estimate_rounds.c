// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_rounds.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"
#include "core/estimate/estimate.h"

static const double NS = 1e-9;

static void lay_out(void *self, struct block *block) {
    struct estimate_rounds *rounds = self;
    const struct rows *rows = rounds->rows;
    rounds->has_fields = block_take(block, rows->n_units, sizeof *rounds->has_fields);
    size_t blocks = rounds->n_blocks;
    rounds->cells = block_take(block, blocks * rows->n_units, sizeof *rounds->cells);
    rounds->now = block_take(block, blocks * rows->n_values, sizeof *rounds->now);
    rounds->before = block_take(block, blocks * rows->n_values, sizeof *rounds->before);
    rounds->awake = block_take(block, blocks, sizeof *rounds->awake);
    rounds->held = block_take(block, blocks, sizeof *rounds->held);
}

struct estimate_rounds *estimate_rounds_new(const struct rows *rows, size_t n_cpus) {
    struct estimate_rounds rounds = {.rows = rows, .n_cpus = n_cpus, .n_blocks = lanes_blocks(n_cpus)};
    struct estimate_rounds *made = block_new(&rounds, sizeof rounds, lay_out);
    for (size_t u = 0; made && u < rows->n_units; u++)
        for (size_t i = 0; i < rows->plan->units[u].n_events; i++)
            if (plan_is_field(rows->plan, rows->plan->units[u].events[i]))
                made->has_fields[u] = true;
    for (size_t i = 0, n = rounds.n_blocks * rows->n_units; made && i < n; i++)
        made->cells[i].unfitted = lanes_all(1);
    return made;
}

struct estimate_rounds *estimate_rounds_free(struct estimate_rounds *rounds) {
    free(rounds);
    return NULL;
}

// Pipeline slots counted by a unit with fields: the count of the fields' leader, else the sum of the fields.
static double field_slots(const struct plan *plan, const struct plan_unit *unit, const struct lanes *counts,
                          size_t lane) {
    double sum = 0, leader = 0;
    for (size_t i = 0; i < unit->n_events; i++) {
        if (plan_is_field(plan, unit->events[i]))
            sum += counts[i].of[lane];
        else if (plan->catalog->n_topdown > 0 && unit->events[i] == plan->catalog->topdown[0])
            leader = counts[i].of[lane];
    }
    return leader > 0 ? leader : sum;
}

// True if the unit's windows of a core that was held are longer than a slot, on average.
static bool slept(const struct cells *cells, size_t cpu, size_t u) {
    double slots = (double)cells_at(cells, cpu, u)->n_windows * (double)cells->rows->plan->slot_ns * NS;
    return cells_held(cells, cpu, u) && cells_values(cells, cpu, u)[0] > 1.5 * slots;
}

static void take_unit(struct estimate_rounds *rounds, const struct cells *cells, size_t cpu, size_t u, double seconds) {
    const struct plan *plan = rounds->rows->plan;
    size_t block = cpu / LANES, lane = cpu % LANES;
    struct estimate_cell *cell = estimate_rounds_cell(rounds, block, u);
    const double *from = cells_values(cells, cpu, u);
    struct lanes *to = estimate_rounds_now(rounds, block, u);
    double scale = cells_data(cells, cpu, u) ? cells_factor(cells, cpu, u, seconds) : 0;
    for (size_t i = 0, n = rows_n(rounds->rows, u); i < n; i++)
        to[i].of[lane] = from[i] * scale;
    if (scale > 0 && cells_held(cells, cpu, u))
        to[0].of[lane] = seconds; // exact
    cell->share.of[lane] = cells_share(cells, cpu, u);
    cell->slept.of[lane] = scale > 0 && slept(cells, cpu, u) ? from[0] * scale : 0;
    if (rounds->has_fields[u]) // uniform error of up to half a step: a step / sqrt(12)
        cell->rounding.of[lane] = field_slots(plan, &plan->units[u], to + 1, lane) / ESTIMATE_FIELD_STEPS / sqrt(12);
}

// Makes the unit's last round the previous one, if it has data.
static void keep_unit(struct estimate_rounds *rounds, size_t cpu, size_t u) {
    size_t block = cpu / LANES, lane = cpu % LANES;
    struct estimate_cell *cell = estimate_rounds_cell(rounds, block, u);
    const struct lanes *now = estimate_rounds_now(rounds, block, u);
    struct lanes *before = estimate_rounds_before(rounds, block, u);
    if (!(cell->share.of[lane] > 0))
        return;
    cell->share_before.of[lane] = cell->share.of[lane];
    for (size_t i = 0, n = rows_n(rounds->rows, u); i < n; i++)
        before[i].of[lane] = now[i].of[lane];
}

// What every slot measures has many windows in a round, and only idle pieces are missing: how much windows differ from
// their neighbours tells what these hide, and changes from round to round do not. So the round is compared with one
// that differs from it by the contrast, times a root of 2, because the difference of two rounds has twice a round's
// variance.
static void compare_within(struct estimate_rounds *rounds, const struct cells *cells, size_t cpu, size_t u,
                           double seconds) {
    size_t block = cpu / LANES, lane = cpu % LANES;
    const struct lanes *now = estimate_rounds_now(rounds, block, u);
    struct lanes *before = estimate_rounds_before(rounds, block, u);
    double factor;
    const double *contrast = cells_contrast(cells, cpu, u, &factor);
    if (!contrast || !(estimate_rounds_cell(rounds, block, u)->share_before.of[lane] > 0))
        return;
    factor *= sqrt(2) * cells_factor(cells, cpu, u, seconds);
    for (size_t i = 1, n = rows_n(rounds->rows, u); i < n; i++)
        before[i].of[lane] = now[i].of[lane] - factor * contrast[i];
}

// True for a unit whose event groups take turns with others.
static bool rotates(const struct plan *plan, size_t u) {
    return !plan_unit_stands(plan, (unsigned)u) && plan->common_unit != (int)u;
}

// The time in which a core counted and did not sleep.
static double awake_seconds(const struct cells *cells, size_t cpu) {
    const struct cell_time *time = &cells->times[cpu];
    double seconds = 0;
    if (!time->held)
        return time->seconds * (1 - plan_idle_share(cells->rows->plan));
    for (size_t u = 0; u < cells->rows->n_units; u++)
        if (rotates(cells->rows->plan, u) && !slept(cells, cpu, u))
            seconds += cells_values(cells, cpu, u)[0];
    return seconds;
}

static double held_part(const struct cells *cells, size_t cpu) {
    const struct plan *plan = cells->rows->plan;
    double windows = 0;
    if (!cells->times[cpu].held)
        return 0;
    for (size_t u = 0; u < plan->n_units; u++)
        if (rotates(plan, u))
            windows += cells_at(cells, cpu, u)->n_windows;
    return lanes_max(1 - windows / plan_slots(plan), 0);
}

static void find_covered(struct estimate_cell *cell) {
    struct lanes share = cell->share, before = cell->share_before, covered, uncovered;
    for (size_t l = 0; l < LANES; l++) {
        double mean = (before.of[l] + share.of[l]) / 2;
        mean = before.of[l] > 0 ? mean : -1;
        covered.of[l] = share.of[l] > 0 ? mean : -1;
    }
    for (size_t l = 0; l < LANES; l++) {
        double rest = sqrt(1 - covered.of[l]);
        uncovered.of[l] = covered.of[l] >= 0 ? rest : 0;
    }
    cell->covered = covered;
    cell->uncovered = uncovered;
}

void estimate_rounds_take(struct estimate_rounds *rounds, const struct cells *cells, double seconds) {
    for (size_t cpu = 0; cpu < rounds->n_cpus; cpu++) {
        if (!cells->times[cpu].fresh || !(cells->times[cpu].seconds > 0))
            continue;
        rounds->held[cpu / LANES].of[cpu % LANES] = held_part(cells, cpu);
        rounds->awake[cpu / LANES].of[cpu % LANES] = awake_seconds(cells, cpu) * seconds / cells->times[cpu].seconds;
        for (size_t u = 0; u < rounds->rows->n_units; u++) {
            keep_unit(rounds, cpu, u);
            take_unit(rounds, cells, cpu, u, seconds);
            compare_within(rounds, cells, cpu, u, seconds);
        }
    }
    for (size_t i = 0, n = rounds->n_blocks * rounds->rows->n_units; i < n; i++)
        find_covered(&rounds->cells[i]);
}

void estimate_rounds_forget(struct estimate_rounds *rounds, size_t cpu, size_t unit) {
    struct estimate_cell *cell = estimate_rounds_cell(rounds, cpu / LANES, unit);
    cell->share.of[cpu % LANES] = cell->share_before.of[cpu % LANES] = 0;
}
