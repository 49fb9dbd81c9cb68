// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_state.h"

// Continues under another plan.

static int find_event(const struct snapshot_layout *layout, unsigned event) {
    for (size_t e = 0; e < layout->n_events; e++)
        if (layout->events[e] == event)
            return (int)e;
    return -1;
}

// Copies the totals of one scope, field by field; both layouts have the same metrics in the same order.
static void continue_scope(struct derive *d, size_t scope, const struct derive *old, size_t old_scope) {
    const struct snapshot_layout *to = d->layout, *from = old->layout;
    size_t first = snapshot_numerator(to, 0, 0), old_first = snapshot_numerator(from, 0, 0);
    totals_copy(d->totals, scope, first, old->totals, old_scope, old_first, snapshot_event(to, 0, 0) - first);
    for (size_t e = 0; e < to->n_events; e++) {
        int old_event = find_event(from, to->events[e]);
        if (old_event >= 0)
            totals_copy(d->totals, scope, snapshot_event(to, 0, e), old->totals, old_scope,
                        snapshot_event(from, 0, (size_t)old_event), 1);
    }
    totals_copy(d->totals, scope, snapshot_covered(to, 0), old->totals, old_scope, snapshot_covered(from, 0),
                1 + UNCOVERED_N);
}

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

static int find_socket(const struct topology *topology, unsigned id) {
    for (size_t s = 0; s < topology->n_sockets; s++)
        if (topology->sockets[s].id == id)
            return (int)s;
    return -1;
}

// Of a CPU that is no longer measured, to its socket and the host.
static void leave_pending(struct derive *d, const struct derive *old, size_t old_cpu) {
    const struct topology *topology = old->layout->topology;
    int socket = find_socket(d->layout->topology, topology->sockets[topology->cpus[old_cpu].socket].id);
    for (size_t u = 0; u < derive_n_units(old); u++) {
        size_t field = snapshot_uncovered(d->layout, 0, cells_at(old->cells, old_cpu, u)->trouble);
        double seconds = pending_seconds(old, old_cpu, u);
        totals_add_scope(d->totals, 0, field, seconds);
        if (socket >= 0)
            totals_add_scope(d->totals, scope_of_socket((size_t)socket), field, seconds);
    }
}

static void continue_cpu(struct derive *d, size_t cpu, const struct derive *old, size_t old_cpu) {
    continue_scope(d, snapshot_scope_cpu(d->layout, cpu), old, snapshot_scope_cpu(old->layout, old_cpu));
    level1_cpus_continue(d->level1, cpu, old->level1, old_cpu);
    carries_continue(d->metrics->carries, cpu, old->metrics->carries, old_cpu);
    give_up_pending(d, cpu, old, old_cpu);
    d->end_ns[cpu] = old->end_ns[old_cpu];
    d->standing_end_ns[cpu] = old->standing_end_ns[old_cpu];
}

int derive_continue(struct derive *d, const struct derive *old) {
    const struct topology *topology = d->layout->topology, *old_topology = old->layout->topology;
    int r = group_totals_continue(d->groups, old->groups);
    if (r < 0)
        return r;
    d->rounds = old->rounds;
    d->seconds = old->seconds;
    derive_metrics_continue(d->metrics, old->metrics);
    core_slots_continue(d->core_slots, old->core_slots);
    continue_scope(d, 0, old, 0);
    for (size_t s = 0; s < topology->n_sockets; s++) {
        int o = find_socket(old_topology, topology->sockets[s].id);
        if (o >= 0)
            continue_scope(d, snapshot_scope_socket(s), old, snapshot_scope_socket((size_t)o));
    }
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        int old_cpu = topology_find_cpu(old_topology, topology->cpus[cpu].id);
        if (old_cpu >= 0)
            continue_cpu(d, cpu, old, (size_t)old_cpu);
    }
    for (size_t cpu = 0; cpu < old_topology->n_cpus; cpu++)
        if (topology_find_cpu(topology, old_topology->cpus[cpu].id) < 0)
            leave_pending(d, old, cpu);
    derive_metrics_find_stalled(d->metrics);
    return 0;
}
