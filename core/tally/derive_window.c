// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "core/tally/derive_state.h"

// Readings into a CPU's sums over the round's windows.

static const double NS = 1e-9;

void derive_dense_fill(struct derive *d, size_t unit, const double *values, double factor) {
    const struct plan_unit *plan_unit = &d->layout->plan->units[unit];
    d->dense[CATALOG_CPU_SECONDS] = values[0] * factor;
    for (size_t i = 0; i < plan_unit->n_events; i++)
        d->dense[plan_unit->events[i]] = values[1 + i] * factor;
}

void derive_dense_special(struct derive *d, double seconds, double core_wide) {
    const struct catalog *catalog = d->layout->catalog;
    if (catalog->duration_event >= 0)
        d->dense[catalog->duration_event] = seconds;
    if (catalog->core_wide_event >= 0)
        d->dense[catalog->core_wide_event] = core_wide;
}

// The event's place among the unit's; n_events: it has none.
static size_t position(const struct plan_unit *unit, unsigned event) {
    size_t i = 0;
    while (i < unit->n_events && unit->events[i] != event)
        i++;
    return i;
}

// A window's values by the unit's events, scaled for contention; events of other parts are 0.
static void window_values(const struct derive *d, const struct window *window, const struct plan_unit *unit,
                          double *values) {
    const struct plan_group *group = &d->layout->plan->groups[window->group];
    double scale = (double)window->enabled_ns / (double)window->running_ns;
    memset(values, 0, (1 + unit->n_events) * sizeof *values);
    values[0] = (double)window->enabled_ns * NS;
    for (size_t i = 0; i < group->n_events; i++) {
        size_t at = position(unit, group->events[i]);
        if (at < unit->n_events)
            values[1 + at] = (double)window->counts[i] * scale;
    }
    if (window->made)
        memcpy(values + 1, window->made->counts, unit->n_events * sizeof *values);
}

// Joins the parts of a composite into the values of one window as long as all of them. An event's count is scaled from
// its own parts to the whole by the event that is in every part; where that one did not happen, by time. Ratios come
// last, also here: joined are a round's sums. One by one the parts of a composite have seen too different moments:
// where a burst falls into one and not into the other, the quotient is far off, and always to the same side.
static void join_parts(const struct derive *d, const struct plan_unit *unit, const double *parts, double *joined) {
    size_t n = 1 + unit->n_events, by = unit->reference >= 0 ? 1 + position(unit, (unsigned)unit->reference) : 0;
    double whole = 0;
    for (size_t p = 0; p < unit->n_groups; p++)
        whole += parts[p * n + by];
    if (whole == 0)
        by = 0;
    memset(joined, 0, n * sizeof *joined);
    for (size_t p = 0; p < unit->n_groups; p++)
        joined[0] += parts[p * n];
    whole = by == 0 ? joined[0] : whole;
    for (size_t i = 0; i < unit->n_events; i++) {
        double measured = 0;
        for (size_t p = 0; p < unit->n_groups; p++) {
            const struct plan_group *group = &d->layout->plan->groups[unit->first_group + p];
            for (size_t e = 0; e < group->n_events; e++) {
                if (group->events[e] != unit->events[i])
                    continue;
                joined[1 + i] += parts[p * n + 1 + i];
                measured += parts[p * n + by];
            }
        }
        joined[1 + i] = measured > 0 ? joined[1 + i] / measured * whole : 0;
    }
}

// A finished window of a unit.
static void note_window(struct derive *d, unsigned cpu, unsigned unit, double running_seconds) {
    d->running[cpu * derive_n_units(d) + unit] += running_seconds;
    d->n_windows[cpu * derive_n_units(d) + unit]++;
}

// Values of a unit's window: into the CPU's sums, and where it is level 1, split by category.
static void take_values(struct derive *d, unsigned cpu, unsigned unit, const double *values) {
    double *sums = d->windows + cpu * d->row + d->units[unit].first;
    for (size_t i = 0; i < d->units[unit].n; i++)
        sums[i] += values[i];
    if ((int)unit != d->layout->plan->level1_unit)
        return;
    double categories[CATEGORY_N], slots;
    derive_dense_fill(d, unit, values, 1);
    derive_dense_special(d, values[0], 0);
    if (!level1_split(d->layout->catalog, d->dense, d->values, categories, &slots))
        return;
    d->level1_seconds[cpu] += values[0];
    for (size_t i = 0; i < d->layout->n_level1; i++)
        d->level1_slots[cpu * d->layout->n_level1 + i] += categories[i];
}

static void take_part(struct derive *d, const struct window *window, unsigned unit_index) {
    const struct plan_unit *unit = &d->layout->plan->units[unit_index];
    size_t part = window->group - unit->first_group, n = d->units[unit_index].n;
    double *parts = d->parts + window->cpu * d->n_parts;
    if (part == 0) {
        d->parts_done[window->cpu] = 0;
        d->parts_running[window->cpu] = 0;
    }
    if (part != d->parts_done[window->cpu]) {
        d->parts_done[window->cpu] = UINT32_MAX;
        return; // an earlier part has no data: the windows would not be adjacent
    }
    window_values(d, window, unit, parts + part * n);
    d->parts_running[window->cpu] += (double)window->running_ns * NS;
    if (++d->parts_done[window->cpu] < unit->n_groups)
        return;
    for (size_t i = 0; i < d->n_parts; i++)
        d->parts_sums[window->cpu * d->n_parts + i] += parts[i];
    // an event counts in its own parts only: about one of them
    note_window(d, window->cpu, unit_index, d->parts_running[window->cpu] / unit->n_groups);
}

void derive_join_parts(struct derive *d) {
    unsigned unit = (unsigned)d->layout->plan->level1_unit;
    for (unsigned cpu = 0; cpu < derive_n_cpus(d) && d->n_parts > 0; cpu++) {
        if (d->n_windows[cpu * derive_n_units(d) + unit] == 0)
            continue;
        join_parts(d, &d->layout->plan->units[unit], d->parts_sums + cpu * d->n_parts, d->joined);
        take_values(d, cpu, unit, d->joined);
    }
}

// ---- a window ----

static bool counted(enum window_result result) { return result == WINDOW_COMPLETE || result == WINDOW_CONTENDED; }

static void note_counting(struct derive *d, const struct window *window) {
    const struct plan_group *group = &d->layout->plan->groups[window->group];
    for (size_t i = 0; i < group->n_events && counted(window->result); i++)
        d->counted[group->events[i]] = d->counted[group->events[i]] || window->counts[i] > 0;
}

// A window with data.
static void take_counts(struct derive *d, const struct window *window, unsigned unit) {
    if (d->layout->plan->units[unit].n_groups > 1) {
        take_part(d, window, unit);
        return;
    }
    window_values(d, window, &d->layout->plan->units[unit], d->window);
    note_window(d, window->cpu, unit, window->made ? window->made->running_seconds : (double)window->running_ns * NS);
    take_values(d, window->cpu, unit, d->window);
}

static void take_trouble(struct derive *d, unsigned cpu, unsigned unit, enum window_result result, int error) {
    enum uncovered trouble = result == WINDOW_STARVED ? UNCOVERED_STARVED
                             : error == -ENODEV       ? UNCOVERED_OFFLINE
                                                      : UNCOVERED_FAILED;
    d->trouble[cpu * derive_n_units(d) + unit] = (uint8_t)trouble;
    d->offline[cpu] = d->offline[cpu] || error == -ENODEV;
    if (d->layout->plan->units[unit].n_groups > 1)
        d->parts_done[cpu] = UINT32_MAX; // a composite's windows would not be adjacent
}

static void take_for_unit(struct derive *d, const struct window *window, unsigned unit) {
    enum window_result result = window->made ? window->made->result : window->result;
    if (counted(result))
        take_counts(d, window, unit);
    else
        take_trouble(d, window->cpu, unit, result, window->made ? window->made->error : window->error);
}

void derive_take_window(struct derive *d, const struct window *window) {
    const struct plan *plan = d->layout->plan;
    double *totals = d->group_totals + window->group * DERIVE_GROUP_TOTALS;
    totals[window->result]++;
    totals[WINDOW_RESULT_N] += (double)window->enabled_ns * NS;
    totals[WINDOW_RESULT_N + 1] += (double)window->running_ns * NS;
    note_counting(d, window);
    take_for_unit(d, window, plan->groups[window->group].unit);
    if (plan_carried_unit(plan) >= 0)
        take_for_unit(d, window, (unsigned)plan_carried_unit(plan));
}
