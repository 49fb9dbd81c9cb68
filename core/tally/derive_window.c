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

static size_t position(const struct plan_unit *unit, unsigned event) {
    size_t i = 0;
    while (unit->events[i] != event)
        i++;
    return i;
}

// Of event i of one of the unit's groups: mostly the unit has it at the same place.
static size_t position_of(const struct plan_unit *unit, const struct plan_group *group, size_t i) {
    return unit->events[i] == group->events[i] ? i : position(unit, group->events[i]);
}

// A window's values by the unit's events, scaled for contention; events of other parts are 0.
static void window_values(const struct derive *d, const struct window *window, double *values) {
    const struct plan_group *group = &d->layout->plan->groups[window->group];
    const struct plan_unit *unit = &d->layout->plan->units[group->unit];
    double scale = (double)window->enabled_ns / (double)window->running_ns;
    memset(values, 0, (1 + unit->n_events) * sizeof *values);
    values[0] = (double)window->enabled_ns * NS;
    for (size_t i = 0; i < group->n_events; i++)
        values[1 + position_of(unit, group, i)] = (double)window->counts[i] * scale;
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
    window_values(d, window, parts + part * n);
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

// ---- the resident group ----

// Its events in the window of a rotating group, which lasted as long: the two were read one after the other.
static void add_resident(const struct derive *d, unsigned cpu, const struct plan_unit *unit, double *values) {
    const struct plan *plan = d->layout->plan;
    const struct plan_unit *resident = &plan->units[plan->groups[plan->resident_group].unit];
    const double *counted = d->resident + cpu * (1 + resident->n_events);
    for (size_t i = 0; i < unit->n_events; i++)
        if (plan->catalog->events[unit->events[i]].resident)
            values[1 + i] = counted[1 + position(resident, unit->events[i])] * values[0] / counted[0];
}

static enum resident_state resident_state_of(const struct window *window) {
    if (window->result == WINDOW_STARVED)
        return RESIDENT_STARVED;
    if (window->result == WINDOW_FAILED)
        return window->error == -ENODEV ? RESIDENT_OFFLINE : RESIDENT_FAILED;
    return RESIDENT_COUNTED;
}

static void take_resident(struct derive *d, const struct window *window) {
    size_t n = 1 + d->layout->plan->units[d->layout->plan->groups[window->group].unit].n_events;
    d->resident_state[window->cpu] = (uint8_t)resident_state_of(window);
    if (d->resident_state[window->cpu] != RESIDENT_COUNTED)
        return;
    window_values(d, window, d->resident + window->cpu * n);
    d->resident_share[window->cpu] = (double)window->running_ns / (double)window->enabled_ns;
}

// Why a rotating group's window is of no use without the resident group's.
static enum uncovered resident_trouble(enum resident_state state) {
    return state == RESIDENT_STARVED   ? UNCOVERED_STARVED
           : state == RESIDENT_OFFLINE ? UNCOVERED_OFFLINE
                                       : UNCOVERED_FAILED;
}

static enum uncovered trouble_of(const struct window *window) {
    if (window->result == WINDOW_STARVED)
        return UNCOVERED_STARVED;
    return window->error == -ENODEV ? UNCOVERED_OFFLINE : UNCOVERED_FAILED;
}

static void note_counting(struct derive *d, const struct window *window) {
    const struct plan_group *group = &d->layout->plan->groups[window->group];
    for (size_t i = 0; i < group->n_events; i++)
        d->counted[group->events[i]] = d->counted[group->events[i]] || window->counts[i] > 0;
}

// A window with data.
static void take_counts(struct derive *d, const struct window *window, unsigned unit, enum resident_state resident) {
    note_counting(d, window);
    if (d->units[unit].with_resident && resident != RESIDENT_COUNTED) {
        d->trouble[window->cpu * derive_n_units(d) + unit] = (uint8_t)resident_trouble(resident);
        return;
    }
    if (d->layout->plan->units[unit].n_groups > 1) {
        take_part(d, window, unit);
        return;
    }
    window_values(d, window, d->window);
    double running_seconds = (double)window->running_ns * NS;
    if (d->units[unit].with_resident) {
        add_resident(d, window->cpu, &d->layout->plan->units[unit], d->window);
        running_seconds = fmin(running_seconds, d->resident_share[window->cpu] * d->window[0]);
    }
    note_window(d, window->cpu, unit, running_seconds);
    take_values(d, window->cpu, unit, d->window);
}

void derive_take_window(struct derive *d, const struct window *window) {
    unsigned unit = d->layout->plan->groups[window->group].unit;
    double *totals = d->group_totals + window->group * DERIVE_GROUP_TOTALS;
    enum resident_state resident = d->resident_state[window->cpu];
    totals[window->result]++;
    totals[WINDOW_RESULT_N] += (double)window->enabled_ns * NS;
    totals[WINDOW_RESULT_N + 1] += (double)window->running_ns * NS;
    if (plan_unit_resident(d->layout->plan, unit))
        take_resident(d, window);
    else
        d->resident_state[window->cpu] = RESIDENT_NONE; // it was of this slot
    if (window->result != WINDOW_STARVED && window->result != WINDOW_FAILED) {
        take_counts(d, window, unit, resident);
        return;
    }
    d->trouble[window->cpu * derive_n_units(d) + unit] = (uint8_t)trouble_of(window);
    d->offline[window->cpu] = d->offline[window->cpu] || window->error == -ENODEV;
    if (!plan_unit_resident(d->layout->plan, unit))
        d->parts_done[window->cpu] = UINT32_MAX; // a composite's windows would not be adjacent
}
