// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "core/tally/derive_private.h"

// Takes readings into the cells of the CPUs' rounds.

static const double NS = 1e-9;

// Writes a window's values by the unit's events, scaled for contention unless they are; events of other parts are 0.
static void write_values(const struct derive *d, const struct window *window, unsigned unit, double *values) {
    const struct plan_group *group = &d->layout->plan->groups[window->group];
    const unsigned *events = group->events, *of = d->layout->plan->units[unit].events;
    const uint64_t *counts = window->counts;
    size_t n = group->n_events, n_values = rows_n(d->rows, unit);
    double scale = d->scaled ? 1 : (double)window->enabled_ns / (double)window->running_ns;
    memset(values, 0, n_values * sizeof *values);
    values[0] = (double)window->enabled_ns * NS;
    for (size_t i = 0; i < n; i++) {
        bool same = 1 + i < n_values && of[i] == events[i]; // usually at the same place in the unit
        size_t place = same ? 1 + i : rows_place_in_unit(d->rows, unit, events[i]);
        if (place > 0)
            values[place] = (double)counts[i] * scale;
    }
    if (window->made)
        memcpy(values + 1, window->made->counts, (n_values - 1) * sizeof *values);
}

// Adds the values of a unit's window, or of its joined windows, to the CPU's sums. Level 1 is also split by category.
static void add_values(struct derive *d, unsigned cpu, unsigned unit, const double *values) {
    cells_add_values(d->cells, cpu, unit, values);
    if ((int)unit == d->layout->plan->level1_unit)
        level1_cpus_take_window(d->level1, cpu, values);
}

// Adds the windows that a core's threads have counted at the same time.
static void finish_core(struct derive *d, unsigned cpu) {
    struct scope_cpus core = core_slots_finish(d->core_slots, cpu);
    for (size_t i = 0; i < core.n; i++) {
        const double *values = core_slots_values(d->core_slots, core.cpus[i]);
        if (values[0] > 0)
            add_values(d, core.cpus[i], (unsigned)d->rows->core_unit, values);
    }
}

// Values of a unit's window, or of its joined windows; NULL without data. If a core's slots are made of them, they wait
// for the siblings'. If the CPU's last window still waits, a sibling had none.
static void take_values(struct derive *d, unsigned cpu, unsigned unit, const double *values) {
    if ((int)unit == d->rows->core_unit) {
        if (core_slots_waits(d->core_slots, cpu))
            finish_core(d, cpu);
        if (core_slots_take(d->core_slots, cpu, values))
            finish_core(d, cpu);
    } else if (values) {
        add_values(d, cpu, unit, values);
    }
}

void derive_end_windows(struct derive *d) {
    for (unsigned cpu = 0; cpu < derive_n_cpus(d) && d->rows->core_unit >= 0; cpu++)
        if (core_slots_waits(d->core_slots, cpu))
            finish_core(d, cpu);
    level1_cpus_end_windows(d->level1);
}

static void take_part(struct derive *d, const struct window *window, unsigned unit) {
    size_t part = window->group - d->layout->plan->units[unit].first_group;
    double *values = composites_begin_part(d->composites, window->cpu, part);
    double running_seconds = (double)window->running_ns * NS;
    if (!values)
        return;
    write_values(d, window, unit, values);
    if (composites_end_part(d->composites, window->cpu, &running_seconds))
        cells_note_window(d->cells, window->cpu, unit, running_seconds);
}

void derive_join_composites(struct derive *d) {
    for (unsigned cpu = 0; cpu < derive_n_cpus(d) && d->composites->unit >= 0; cpu++) {
        unsigned unit = (unsigned)d->composites->unit;
        if (d->ended[cpu] && cells_at(d->cells, cpu, unit)->n_windows > 0)
            take_values(d, cpu, unit, composites_join(d->composites, cpu));
    }
}

// True for a unit of boxes whose event groups count different events at once.
static bool is_spread(const struct derive *d, unsigned unit) {
    return d->layout->plan->units[unit].n_groups > 1 && plan_unit_stands(d->layout->plan, unit);
}

// All groups' windows last equally long, and each has its share of the unit's seconds.
static void take_spread(struct derive *d, const struct window *window, unsigned unit) {
    const struct plan_unit *of = &d->layout->plan->units[unit];
    struct cell *cell = cells_at(d->cells, window->cpu, unit);
    double running_seconds = (double)window->running_ns * NS / of->n_groups;
    if (cell->broken)
        return;
    write_values(d, window, unit, d->window);
    d->window[0] /= of->n_groups;
    if (window->group == of->first_group)
        cells_note_window(d->cells, window->cpu, unit, running_seconds);
    else
        cell->running_seconds += running_seconds;
    cells_add_values(d->cells, window->cpu, unit, d->window);
}

static bool counted(enum window_result result) { return result == WINDOW_COMPLETE || result == WINDOW_CONTENDED; }

// Takes a window with data.
static void take_counts(struct derive *d, const struct window *window, unsigned unit) {
    double running_seconds = window->made ? window->made->running_seconds : (double)window->running_ns * NS;
    if ((int)unit == d->composites->unit) {
        cells_sign_window(d->cells, window->cpu, unit, (double)window->enabled_ns * NS, NULL);
        take_part(d, window, unit);
        return;
    }
    if (is_spread(d, unit)) {
        take_spread(d, window, unit);
        return;
    }
    write_values(d, window, unit, d->window);
    cells_note_window(d->cells, window->cpu, unit, running_seconds);
    take_values(d, window->cpu, unit, d->window);
    if ((int)unit == d->layout->plan->common_unit)
        cells_take_contrast(d->cells, window->cpu, d->window[0], d->window);
    else if (!plan_unit_stands(d->layout->plan, unit))
        cells_sign_window(d->cells, window->cpu, unit, d->window[0], d->window);
}

static void take_trouble(struct derive *d, const struct window *window, unsigned unit, enum window_result result,
                         int error) {
    unsigned cpu = window->cpu;
    enum uncovered trouble = result == WINDOW_STARVED ? UNCOVERED_STARVED
                             : error == -ENODEV       ? UNCOVERED_OFFLINE
                                                      : UNCOVERED_FAILED;
    cells_at(d->cells, cpu, unit)->trouble = (uint8_t)trouble;
    cells_at(d->cells, cpu, unit)->troubled = true;
    if ((int)unit == d->layout->plan->common_unit)
        cells_take_contrast(d->cells, cpu, (double)window->enabled_ns * NS, NULL);
    else if (!plan_unit_stands(d->layout->plan, unit))
        cells_sign_window(d->cells, cpu, unit, (double)window->enabled_ns * NS, NULL);
    d->cells->offline[cpu] = d->cells->offline[cpu] || error == -ENODEV;
    if ((int)unit == d->composites->unit)
        composites_break(d->composites, cpu);
    else if (is_spread(d, unit))
        cells_break(d->cells, cpu, unit);
    else
        take_values(d, cpu, unit, NULL);
}

static void take_for_unit(struct derive *d, const struct window *window, unsigned unit) {
    enum window_result result = window->made ? window->made->result : window->result;
    if (counted(result))
        take_counts(d, window, unit);
    else
        take_trouble(d, window, unit, result, window->made ? window->made->error : window->error);
}

void derive_take_window(struct derive *d, const struct window *window) {
    const struct plan *plan = d->layout->plan;
    group_totals_take(d->groups, window);
    if (counted(window->result))
        derive_metrics_note_counts(d->metrics, window->group, window->counts);
    take_for_unit(d, window, plan->groups[window->group].unit);
    if (plan_carried_unit(plan) >= 0 && !plan_group_stands(plan, window->group))
        take_for_unit(d, window, (unsigned)plan_carried_unit(plan));
}
