// SPDX-License-Identifier: Apache-2.0
#include "core/counts/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/base/random.h"

static const double SLOTS_MAX = 1e6; // of a window
enum { CONTRAST_WINDOWS_MIN = 4 };   // fewer say little of a round

// The number of values that have contrasts.
static size_t n_of_contrast(const struct cells *cells) {
    int unit = cells->rows->plan->common_unit;
    return unit >= 0 ? rows_n(cells->rows, (size_t)unit) : 0;
}

static void lay_out(void *self, struct block *block) {
    struct cells *cells = self;
    cells->cells = block_take(block, cells->n_cpus * cells->rows->n_units, sizeof *cells->cells);
    cells->values = block_take(block, cells->n_cpus * cells->rows->n_values, sizeof *cells->values);
    cells->offline = block_take(block, cells->n_cpus, sizeof *cells->offline);
    cells->times = block_take(block, cells->n_cpus, sizeof *cells->times);
    size_t n = n_of_contrast(cells);
    cells->contrasts = block_take(block, n > 0 ? cells->n_cpus : 0, sizeof *cells->contrasts);
    cells->contrast_sums = block_take(block, cells->n_cpus * n, sizeof *cells->contrast_sums);
    cells->last_window = block_take(block, cells->n_cpus * n, sizeof *cells->last_window);
    cells->signs = block_take(block, cells->n_cpus, sizeof *cells->signs);
    size_t counters = shared_events_counters(cells->shared) * CELL_SIGNS;
    cells->signed_counts = block_take(block, cells->n_cpus * counters, sizeof *cells->signed_counts);
}

struct cells *cells_new(const struct rows *rows, size_t n_cpus) {
    struct cells cells = {
        .rows = rows, .n_cpus = n_cpus, .shared = shared_events_new(rows), .neighbours = neighbours_new(rows, n_cpus)};
    struct cells *made = cells.shared && cells.neighbours ? block_new(&cells, sizeof cells, lay_out) : NULL;
    if (!made) {
        neighbours_free(cells.neighbours);
        shared_events_free(cells.shared);
    }
    return made;
}

struct cells *cells_free(struct cells *cells) {
    if (cells) {
        neighbours_free(cells->neighbours);
        shared_events_free(cells->shared);
    }
    free(cells);
    return NULL;
}

static void begin_cell(struct cell *cell) {
    *cell = (struct cell){
        .trouble = cell->troubled ? cell->trouble : UNCOVERED_FAILED, .troubled = cell->troubled, .span = cell->span};
}

static void forget_values(struct cells *cells, size_t cpu, size_t unit) {
    memset(cells_values(cells, cpu, unit), 0, rows_n(cells->rows, unit) * sizeof *cells->values);
}

void cells_begin_standing(struct cells *cells, size_t cpu) {
    for (size_t u = 0; u < cells->rows->n_units; u++) {
        if (!plan_unit_stands(cells->rows->plan, (unsigned)u))
            continue;
        begin_cell(cells_at(cells, cpu, u));
        forget_values(cells, cpu, u);
    }
    cells->offline[cpu] = false;
}

void cells_begin_round(struct cells *cells, size_t cpu) {
    for (size_t u = 0; u < cells->rows->n_units; u++)
        begin_cell(cells_at(cells, cpu, u));
    memset(cells_row(cells, cpu), 0, cells->rows->n_values * sizeof *cells->values);
    cells->offline[cpu] = false;
}

void cells_begin_contrast(struct cells *cells, size_t cpu, uint64_t end_ns) {
    size_t n = n_of_contrast(cells), counters = shared_events_counters(cells->shared) * CELL_SIGNS;
    cells->signs[cpu] = (struct cell_signs){.seed = end_ns};
    memset(cells->signed_counts + cpu * counters, 0, counters * sizeof *cells->signed_counts);
    if (n == 0)
        return;
    cells->contrasts[cpu] = (struct cell_contrast){.signs = end_ns};
    memset(cells->contrast_sums + cpu * n, 0, n * sizeof *cells->contrast_sums);
    neighbours_begin(cells->neighbours, cpu);
}

void cells_note_window(struct cells *cells, size_t cpu, size_t unit, double running_seconds) {
    struct cell *cell = cells_at(cells, cpu, unit);
    cell->troubled = false;
    cell->running_seconds += running_seconds;
    cell->n_windows++;
}

void cells_break(struct cells *cells, size_t cpu, size_t unit) {
    struct cell *cell = cells_at(cells, cpu, unit);
    cell->broken = true;
    cell->n_windows = 0;
    cell->running_seconds = 0;
    forget_values(cells, cpu, unit);
}

void cells_add_values(struct cells *cells, size_t cpu, size_t unit, const double *values) {
    double *sums = cells_values(cells, cpu, unit);
    for (size_t i = 0, n = rows_n(cells->rows, unit); i < n; i++)
        sums[i] += values[i];
}

static bool as_long(double seconds, double other) { return fabs(seconds - other) <= WINDOWS_DIFFER * seconds; }

// How many slots a window lasted: one group may count in several, one after the other. At least one, if it failed too.
static unsigned slots_of(const struct cells *cells, double seconds) {
    return (unsigned)fmin(fmax(round(seconds * 1e9 / (double)cells->rows->plan->slot_ns), 1), SLOTS_MAX);
}

// By what CPUs have in common that do the same at the same time.
static double sign_of(const struct cell_contrast *contrast, unsigned slot) {
    uint64_t state = contrast->signs;
    state = random_next(&state) + slot;
    return random_next(&state) >> 63 ? -1 : 1;
}

static void add_pair(struct cells *cells, size_t cpu, unsigned slot, const double *values) {
    size_t n = n_of_contrast(cells);
    double sign = sign_of(&cells->contrasts[cpu], slot);
    double *sums = cells->contrast_sums + cpu * n;
    const double *last = cells->last_window + cpu * n;
    for (size_t i = 0; i < n; i++)
        sums[i] += sign * (values[i] - last[i]);
    cells->contrasts[cpu].n_pairs++;
    cells->contrasts[cpu].pairs |= slot / 2 < 64 ? UINT64_C(1) << (slot / 2) : 0;
}

void cells_take_contrast(struct cells *cells, size_t cpu, double seconds, const double *values) {
    size_t n = n_of_contrast(cells);
    struct cell_contrast *contrast = &cells->contrasts[cpu];
    double *last = cells->last_window + cpu * n;
    unsigned slots = slots_of(cells, seconds), slot = contrast->slot;
    bool second = slot / slots % 2 == 1;
    if (values && second && contrast->waits && as_long(values[0], last[0]))
        add_pair(cells, cpu, slot - slots, values);
    contrast->waits = values && slot % slots == 0 && !second;
    if (contrast->waits)
        memcpy(last, values, n * sizeof *last);
    contrast->slot += slots;
    contrast->counted += values ? slots : 0;
    neighbours_take(cells->neighbours, cpu, values);
}

// The signs of a slot, as if all slots of the round were in pairs; 0: its neighbour is of another round. Pairs begin
// with the first slot or with the second one.
static void add_signs(const struct cells *cells, size_t cpu, unsigned slot, double part, double *signs) {
    uint64_t state = cells->signs[cpu].seed, odd = random_next(&state) >> 63, other = state + slot;
    unsigned slots = plan_slots(cells->rows->plan), at = slot + (unsigned)odd;
    signs[CELL_SINGLE] += random_next(&other) >> 63 ? part : -part;
    if ((odd && slot == 0) || (at % 2 == 0 && slot + 1 >= slots))
        return;
    state = ~state + at / 2;
    double sign = random_next(&state) >> 63 ? part : -part, pairs = (slots - (unsigned)odd) / 2;
    signs[CELL_PAIRED] += (at % 2 == 0 ? sign : -sign) * sqrt(slots / (2 * pairs));
}

void cells_sign_window(struct cells *cells, size_t cpu, size_t unit, double seconds, const double *values) {
    const struct shared_events *shared = cells->shared;
    unsigned slots = slots_of(cells, seconds);
    double signs[CELL_SIGNS] = {0, 0};
    for (unsigned i = 0; i < slots && values && shared->places[unit] > 0; i++)
        add_signs(cells, cpu, cells->signs[cpu].slot + i, 1.0 / slots, signs);
    cells->signs[cpu].slot += slots;
    for (size_t k = 0; k < CELL_SIGNS && values && shared->places[unit] > 0; k++) {
        double *counts = cells->signed_counts + cpu * shared_events_counters(shared) * CELL_SIGNS + k;
        cells_at(cells, cpu, unit)->signed_seconds[k] += signs[k] * seconds;
        for (size_t i = 0; i < shared_events_counters(shared); i++)
            if (shared->counters[i].unit == unit)
                counts[i * CELL_SIGNS] += signs[k] * values[shared->counters[i].place];
    }
}

const double *cells_contrast(const struct cells *cells, size_t cpu, size_t unit, double *factor) {
    if (cells->rows->plan->common_unit != (int)unit || cells->times[cpu].held)
        return NULL;
    double pairs = cells->contrasts[cpu].n_pairs, windows = cells_at(cells, cpu, unit)->n_windows;
    if (pairs == 0 || windows < CONTRAST_WINDOWS_MIN)
        return NULL;
    *factor = sqrt(cells->contrasts[cpu].counted / (2 * pairs));
    return cells->contrast_sums + cpu * n_of_contrast(cells);
}

// Slots of the unit among those of a round: every slot measures the common unit.
static double probability(const struct plan *plan, size_t unit) {
    const struct plan_unit *of = &plan->units[unit];
    return plan->common_unit == (int)unit ? 1 : (double)(of->slots * of->n_groups) / (double)plan_slots(plan);
}

double cells_factor(const struct cells *cells, size_t cpu, size_t unit, double seconds) {
    const struct cell_time *time = &cells->times[cpu];
    if (!cells_held(cells, cpu, unit))
        return seconds / cells_values(cells, cpu, unit)[0];
    if (!(time->seconds > 0))
        return 0;
    double counted = probability(cells->rows->plan, unit) * (1 - time->idle_share);
    return seconds / time->seconds / counted;
}

double cells_share(const struct cells *cells, size_t cpu, size_t unit) {
    double seconds = cells_seconds(cells, cpu, unit);
    if (!cells_data(cells, cpu, unit))
        return 0;
    return cells_held(cells, cpu, unit) ? plan_share(cells->rows->plan, (unsigned)unit)
                                        : fmin(cells_at(cells, cpu, unit)->running_seconds / seconds, 1);
}
