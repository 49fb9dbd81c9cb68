// SPDX-License-Identifier: Apache-2.0
#include "core/recording/recording_resident.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const double NS = 1e-9;

enum { COUNTS_MAX = 1 << 25 }; // in a round: no host has as many

// ---- the plan ----

static bool unit_has(const struct plan_unit *unit, unsigned event) {
    for (size_t i = 0; i < unit->n_events; i++)
        if (unit->events[i] == event)
            return true;
    return false;
}

bool recording_resident_plan(struct plan *plan, int group) {
    const struct plan_unit *resident = &plan->units[plan->groups[group].unit];
    bool whole = resident->n_groups == 1;
    for (size_t u = 0; u < plan->n_units; u++)
        for (size_t i = 0; i < plan->units[u].n_events; i++)
            if (plan->catalog->events[plan->units[u].events[i]].topdown)
                whole = whole && unit_has(resident, plan->units[u].events[i]);
    plan->common_unit = (int)plan->groups[group].unit;
    return whole;
}

// ---- a round ----

// State for joining windows: the last windows, and the memory for joined counts.
struct joining {
    const struct plan *plan;
    const struct plan_group *resident;
    const struct window **last; // [cpu]: the resident group's window of the current slot
    struct window_made *made;
    double *counts;
};

static double scaled(const struct plan_group *group, const struct window *window, unsigned event) {
    double scale = (double)window->enabled_ns / (double)window->running_ns;
    for (size_t i = 0; i < group->n_events; i++)
        if (group->events[i] == event)
            return (double)window->counts[i] * scale;
    return 0;
}

static bool counted(const struct window *window) {
    return window && (window->result == WINDOW_COMPLETE || window->result == WINDOW_CONTENDED);
}

// True if metrics of the unit need events of the resident group.
static bool needs_resident(const struct joining *j, const struct plan_unit *unit) {
    const struct plan_unit *common = &j->plan->units[j->plan->common_unit];
    bool needs = false;
    for (size_t i = 0; unit != common && i < unit->n_events && !needs; i++)
        needs = unit_has(common, unit->events[i]);
    return needs;
}

// Adds to a rotating group's window what the resident group counted in its slot, over the same time.
static void join_counts(struct joining *j, const struct plan_unit *unit, const struct window *window,
                        const struct window *resident) {
    const struct plan_group *group = &j->plan->groups[window->group];
    const struct plan_unit *common = &j->plan->units[j->plan->common_unit];
    double seconds = (double)window->enabled_ns * NS, resident_seconds = (double)resident->enabled_ns * NS;
    double share = (double)resident->running_ns / (double)resident->enabled_ns;
    j->made->running_seconds = fmin((double)window->running_ns * NS, share * seconds);
    j->made->counts = j->counts;
    for (size_t i = 0; i < unit->n_events; i++)
        j->counts[i] = unit_has(common, unit->events[i])
                           ? scaled(j->resident, resident, unit->events[i]) * seconds / resident_seconds
                           : scaled(group, window, unit->events[i]);
    j->counts += unit->n_events;
}

static void join(struct joining *j, struct window *window) {
    const struct plan_group *group = &j->plan->groups[window->group];
    const struct plan_unit *unit = &j->plan->units[group->unit];
    const struct window *resident = j->last[window->cpu];
    j->last[window->cpu] = group == j->resident ? window : NULL; // valid for one slot
    if (!counted(window) || !needs_resident(j, unit))
        return;
    *j->made = (struct window_made){.result = window->result};
    if (counted(resident)) {
        join_counts(j, unit, window, resident);
    } else { // nothing was counted together
        j->made->result = resident ? resident->result : WINDOW_FAILED;
        j->made->error = resident && resident->error < 0 ? resident->error : -EIO;
    }
    window->made = j->made++;
}

static size_t counts_of(const struct readings *readings, const struct plan *plan) {
    size_t n = 0;
    for (size_t i = 0; i < readings->n_windows; i++)
        n += plan->units[plan->groups[readings->windows[i].group].unit].n_events;
    return n;
}

int recording_resident_round(struct readings *readings, const struct plan *plan, size_t n_cpus) {
    size_t n_counts = counts_of(readings, plan);
    if (n_counts > COUNTS_MAX)
        return -EBADMSG;
    struct joining j = {.plan = plan,
                        .resident = &plan->groups[plan->units[plan->common_unit].first_group],
                        .last = calloc(n_cpus, sizeof *j.last)};
    size_t made = readings->n_windows * sizeof *j.made;
    readings->made = j.last ? malloc(made + n_counts * sizeof *j.counts + 1) : NULL;
    if (!readings->made) {
        free(j.last);
        return -ENOMEM;
    }
    j.made = readings->made;
    j.counts = (double *)(j.made + readings->n_windows);
    for (size_t i = 0; i < readings->n_windows; i++)
        join(&j, &readings->windows[i]);
    free(j.last);
    return 0;
}
