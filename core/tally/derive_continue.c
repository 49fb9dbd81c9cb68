// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_private.h"

// Continues under another plan.

// The pending rounds without data of a CPU's unit, which are given up.
static double pending_seconds(const struct derive *old, size_t old_cpu, size_t unit) {
    return cells_at(old->cells, old_cpu, unit)->span.pending_seconds * (double)old->metrics->units[unit].n_metrics /
           (double)old->metrics->n_planned;
}

static void give_up_pending(struct derive *d, size_t cpu, const struct derive *old, size_t old_cpu) {
    for (size_t u = 0; u < derive_n_units(old); u++)
        totals_add(d->totals, cpu, snapshot_uncovered(d->layout, 0, cells_at(old->cells, old_cpu, u)->trouble),
                   pending_seconds(old, old_cpu, u));
}

// Of a CPU that is no longer measured, to its socket and the host.
static void leave_pending(struct derive *d, const struct derive *old, size_t old_cpu) {
    const struct topology *topology = old->layout->topology;
    int socket = derive_match_socket(d->layout->topology, topology->sockets[topology->cpus[old_cpu].socket].id);
    for (size_t u = 0; u < derive_n_units(old); u++) {
        size_t field = snapshot_uncovered(d->layout, 0, cells_at(old->cells, old_cpu, u)->trouble);
        double seconds = pending_seconds(old, old_cpu, u);
        totals_add_scope(d->totals, 0, field, seconds);
        if (socket >= 0)
            totals_add_scope(d->totals, scope_of_socket((size_t)socket), field, seconds);
    }
}

// Debts are those of the categories in their order.
static bool same_categories(const struct catalog *a, const struct catalog *b) {
    bool same = a->level1.n_categories == b->level1.n_categories;
    for (size_t i = 0; same && i < a->level1.n_categories; i++)
        same = a->level1.categories[i].category == b->level1.categories[i].category;
    return same;
}

static void continue_cpu(struct derive *d, size_t cpu, const struct derive *old, size_t old_cpu,
                         const struct derive_match *match) {
    if (same_categories(d->layout->catalog, old->layout->catalog))
        level1_cpus_continue(d->level1, cpu, old->level1, old_cpu);
    carries_continue(d->metrics->carries, cpu, old->metrics->carries, old_cpu, match->metrics);
    give_up_pending(d, cpu, old, old_cpu);
    d->end_ns[cpu] = old->end_ns[old_cpu];
    d->standing_end_ns[cpu] = old->standing_end_ns[old_cpu];
}

static void continue_cpus(struct derive *d, const struct derive *old, const struct derive_match *match) {
    const struct topology *topology = d->layout->topology, *old_topology = old->layout->topology;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        int old_cpu = topology_find_cpu(old_topology, topology->cpus[cpu].id);
        if (old_cpu >= 0)
            continue_cpu(d, cpu, old, (size_t)old_cpu, match);
    }
    for (size_t cpu = 0; cpu < old_topology->n_cpus; cpu++)
        if (topology_find_cpu(topology, old_topology->cpus[cpu].id) < 0)
            leave_pending(d, old, cpu);
}

int derive_continue(struct derive *d, const struct derive *old) {
    struct derive_totals to = {d->layout, d->scopes, d->totals}, from = {old->layout, old->scopes, old->totals};
    struct derive_match match;
    int r = derive_match_init(&match, d->layout, old->layout);
    if (r == 0)
        r = derive_past_continue(&d->past, &to, &old->past, &from);
    if (r == 0)
        r = group_totals_continue(d->groups, old->groups);
    if (r == 0) {
        d->rounds = old->rounds;
        d->seconds = old->seconds;
        derive_metrics_continue(d->metrics, old->metrics, match.metrics);
        core_slots_continue(d->core_slots, old->core_slots);
        continue_cpus(d, old, &match);
        derive_bounds_begin(d->bounds, d->totals);
        derive_metrics_find_stalled(d->metrics);
    }
    derive_match_deinit(&match);
    return r;
}
