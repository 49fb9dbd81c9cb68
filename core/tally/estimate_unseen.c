// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include "core/tally/estimate_state.h"

// What a unit's windows have missed, told by what other units have seen.
//
// Windows that were all alike have no spread, though they may all have missed what mattered: a thread that was there
// for a second, seen by others. Units have events in common (cycles, instructions), so together they know far better
// than one of them how often such an event happened. Where a unit's own count is smaller than that by more than its own
// standard error (in a single round by more than two), its windows do not stand for the round, and the share that it is
// short of is unseen. What it has seen often enough to vary falls under its own error, and nothing is added.

// What a count of a share of the time weighs: one over what its variance is in proportion to. One that is there all the
// time decides alone.
static double weight_of(double share) { return share / fmax(1 - share, 1e-6); }

static size_t place_of(const struct estimate *e, size_t u, unsigned event) {
    const struct plan_unit *unit = &e->plan->units[u];
    for (size_t i = 0; i < unit->n_events; i++)
        if (unit->events[i] == event)
            return e->first[u] + 1 + i;
    return 0; // the first unit's seconds, which are no event
}

// How well others know how often an event happened.
static double told_by_others(const struct estimate *e, size_t u, unsigned event) {
    double weight = 0;
    for (size_t other = 0; other < e->plan->n_units; other++)
        if (other != u && place_of(e, other, event) > 0)
            weight += weight_of(plan_share(e->plan, (unsigned)other));
    return weight;
}

static void find_same(struct estimate *e, size_t u, size_t *n) {
    const struct plan_unit *unit = &e->plan->units[u];
    double most = 0;
    size_t best = unit->n_events;
    for (size_t i = 0; i < unit->n_events; i++) {
        double told = estimate_is_field(e->plan, unit->events[i]) ? 0 : told_by_others(e, u, unit->events[i]);
        best = told > most ? i : best;
        most = fmax(told, most);
    }
    if (best == unit->n_events)
        return;
    e->same[(*n)++] = (struct estimate_same){u, e->first[u] + 1 + best};
    for (size_t other = 0; other < e->plan->n_units; other++) {
        size_t place = place_of(e, other, unit->events[best]);
        if (other != u && place > 0)
            e->same[(*n)++] = (struct estimate_same){other, place};
    }
}

bool estimate_unseen_init(struct estimate *e) {
    size_t units = e->plan->n_units, n = 0;
    e->same = calloc(units * units + 1, sizeof *e->same);
    e->first_same = calloc(units + 1, sizeof *e->first_same);
    e->sizes = calloc(e->n_scopes * units + 1, sizeof *e->sizes);
    if (!e->same || !e->first_same || !e->sizes)
        return false;
    for (size_t u = 0; u < units; u++) {
        e->first_same[u] = n;
        find_same(e, u, &n);
    }
    e->first_same[units] = n;
    return true;
}

void estimate_unseen_take_round(struct estimate *e) {
    for (size_t cpu = 0; cpu < e->topology->n_cpus; cpu++) {
        const double *now = e->now + cpu * e->row, *share = e->now_share + cpu * e->plan->n_units;
        for (size_t u = 0; u < e->plan->n_units; u++) {
            double sum = 0, weights = 0;
            for (size_t i = e->first_same[u]; i < e->first_same[u + 1]; i++) {
                double weight = weight_of(share[e->same[i].unit]);
                sum += now[e->same[i].place] * weight;
                weights += weight;
            }
            e->all[cpu * e->plan->n_units + u] = weights > 0 ? sum / weights : 0;
        }
    }
}

static double missed(double own, double all, double error) { return all > 0 ? fmax(all - own - error, 0) / all : 0; }

static void take_unit(struct estimate *e, struct estimate_cpus in, size_t u, struct estimate_size *size) {
    double own = 0, all = 0, squares;
    size_t place = e->same[e->first_same[u]].place;
    bool data = false, differs = false;
    for (size_t c = 0; c < in.n; c++) {
        size_t at = in.cpus[c] * e->plan->n_units + u;
        const double *now = e->now + in.cpus[c] * e->row, *before = e->previous + in.cpus[c] * e->row;
        if (!(e->now_share[at] > 0))
            continue;
        data = true;
        own += now[place];
        all += e->all[at];
        if (!(e->share[at] > 0))
            continue;
        differs = true;
        e->core[e->topology->cpus[in.cpus[c]].core] +=
            (now[place] - before[place]) * sqrt(1 - (e->share[at] + e->now_share[at]) / 2);
    }
    double variance = estimate_take_cores(e, in, &squares);
    if (!data)
        return;
    double weight = estimate_weight(e, ++size->rounds);
    size->own += weight * (own - size->own);
    size->all += weight * (all - size->all);
    if (!differs)
        return;
    weight = estimate_weight(e, ++size->differences);
    size->weights2 = (1 - weight) * (1 - weight) * size->weights2 + weight * weight;
    size->variance += weight * (variance - size->variance);
    double error = sqrt(size->variance);
    // of a round that was merely short the stretch says so already
    e->unseen_units[u].round = missed(own, all, 2 * error);
    e->unseen_units[u].mean = missed(size->own, size->all, error * sqrt(size->weights2));
}

void estimate_unseen_take_scope(struct estimate *e, size_t scope, struct estimate_cpus in) {
    for (size_t u = 0; u < e->plan->n_units; u++) {
        e->unseen_units[u] = (struct estimate_unseen){0, 0};
        if (e->first_same[u + 1] > e->first_same[u])
            take_unit(e, in, u, &e->sizes[scope * e->plan->n_units + u]);
    }
}
