// SPDX-License-Identifier: Apache-2.0
//
// Outliers of one metric together, and what the other CPUs are bound by.

#include <math.h>
#include <string.h>

#include "core/diagnosis/bound.h"
#include "core/diagnosis/where.h"
#include "core/diagnosis/where_parts.h"

static bool is_useful(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return catalog->level1.categories[i].category == CATEGORY_RETIRING ||
                   catalog->level1.categories[i].category == CATEGORY_SMT_CONTENTION;
    return false;
}

bool where_asks(const struct tree *tree, size_t node) {
    const struct tree_node *of = &tree->nodes[node];
    const struct catalog *catalog = tree->layout->catalog;
    return of->place >= 0 && of->category == tree->nodes[0].category && !is_useful(catalog, of->metric) &&
           catalog->metrics[of->metric].domain != METRIC_OTHER;
}

// The largest unit as a part of which the CPU is an outlier of the metric; -1: none.
static int unit_of_cpu(const struct where *where, size_t cpu, unsigned metric) {
    const struct topology_cpu *of = &where->layout->topology->cpus[cpu];
    const size_t units[] = {where->first_socket + of->socket, where->first_core + of->core, cpu};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (where->units[units[i]].told == (int)metric)
            return (int)units[i];
    return -1;
}

static enum outliers_unit level_of(const struct where *where, size_t unit) {
    return unit < where->first_core ? OUTLIERS_CPU : unit < where->first_socket ? OUTLIERS_CORE : OUTLIERS_SOCKET;
}

// ---- one set ----

// What is put together: CPUs of one metric and level, of a socket that is itself an outlier only its own.
struct set {
    const struct where *where;
    const struct snapshot *snapshot;
    const double *awake;
    unsigned metric;
    enum outliers_unit level;
    size_t socket; // only of OUTLIERS_SOCKET
};

static int unit_in_set(const struct set *set, size_t cpu) {
    int unit = unit_of_cpu(set->where, cpu, set->metric);
    bool in = unit >= 0 && level_of(set->where, (size_t)unit) == set->level &&
              (set->level != OUTLIERS_SOCKET || set->where->layout->topology->cpus[cpu].socket == set->socket);
    return in ? unit : -1;
}

static void add_cpu(struct outliers *out, const struct topology_cpu *cpu) {
    struct outliers_range *range = out->n_ranges > 0 ? &out->ranges[out->n_ranges - 1] : NULL;
    out->socket = out->n == 0 || out->socket == (int)cpu->socket ? (int)cpu->socket : -1;
    out->n++;
    if (range && !out->more && range->socket == cpu->socket && range->last + 1 == cpu->id)
        range->last = cpu->id;
    else if (out->n_ranges < OUTLIERS_RANGES_MAX)
        out->ranges[out->n_ranges++] = (struct outliers_range){cpu->id, cpu->id, cpu->socket};
    else
        out->more = true;
}

// Adds a socket's CPUs. Returns the one that is farthest away, if it is farther than `farthest`.
static size_t add_socket(const struct set *set, size_t socket, size_t farthest, struct outliers *out) {
    const struct topology *topology = set->where->layout->topology;
    const struct where_unit *units = set->where->units;
    for (size_t c = 0; c < topology->n_cpus; c++) {
        int unit = topology->cpus[c].socket == socket ? unit_in_set(set, c) : -1;
        if (unit < 0)
            continue;
        const struct where_seen *seen = &units[unit].last;
        int best = out->n > 0 ? unit_in_set(set, farthest) : -1;
        farthest = best < 0 || seen->excess > units[best].last.excess ? c : farthest;
        out->slots += seen->excess * (isnan(set->awake[c]) ? 1 : set->awake[c]);
        out->share += seen->share;
        out->usual = seen->usual;
        out->n_units += set->level == OUTLIERS_CPU || units[unit].id == topology->cpus[c].id;
        add_cpu(out, &topology->cpus[c]);
    }
    return farthest;
}

// The mean of a metric over the CPUs of the set.
static double mean_of(const struct set *set, unsigned metric) {
    const struct snapshot_layout *layout = set->snapshot->layout;
    size_t place = (size_t)layout->plan->place[metric], n = 0;
    double sum = 0;
    for (size_t c = 0; c < layout->topology->n_cpus; c++) {
        double value = unit_in_set(set, c) >= 0
                           ? set->snapshot->values[snapshot_metric(layout, snapshot_scope_cpu(layout, c), place)]
                           : (double)NAN;
        sum += isnan(value) ? 0 : value;
        n += isnan(value) ? 0 : 1;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

static struct outliers gather(const struct set *set, struct tree *tree) {
    const struct topology *topology = set->where->layout->topology;
    struct outliers out = {.unit = set->level, .metric = set->metric, .last = set->metric, .socket = -1};
    size_t farthest = 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        farthest = add_socket(set, s, farthest, &out);
    if (out.n == 0)
        return out;
    out.n_units = set->level == OUTLIERS_SOCKET ? 1 : out.n_units;
    out.socket = topology->n_sockets > 1 ? out.socket : -1;
    out.share /= (double)out.n;
    tree_evaluate(tree, set->snapshot,
                  set->level == OUTLIERS_SOCKET ? snapshot_scope_socket(set->socket)
                                                : snapshot_scope_cpu(set->snapshot->layout, farthest));
    struct verdict verdict = bound_find(tree);
    if (verdict_high(&verdict) && verdict.path[0] == set->metric)
        out.last = verdict.path[verdict.n - 1];
    out.last_share = out.last == out.metric ? out.share : mean_of(set, out.last);
    return out;
}

// Keeps the largest ones, in order.
static void keep(struct circumstances *circumstances, const struct outliers *found) {
    size_t at = circumstances->n_outliers;
    while (at > 0 && circumstances->outliers[at - 1].slots < found->slots)
        at--;
    if (found->n == 0 || at == OUTLIERS_MAX)
        return;
    size_t n = circumstances->n_outliers < OUTLIERS_MAX ? circumstances->n_outliers++ : OUTLIERS_MAX - 1;
    memmove(&circumstances->outliers[at + 1], &circumstances->outliers[at], (n - at) * sizeof *circumstances->outliers);
    circumstances->outliers[at] = *found;
}

// True if any unit of the level, or this socket, is an outlier of the metric.
static bool any_of(const struct set *set) {
    const struct where *where = set->where;
    const struct where_level *level = &where->levels[set->level];
    if (set->level == OUTLIERS_SOCKET)
        return level->n > 0 && where->units[level->first + set->socket].told == (int)set->metric;
    for (size_t u = level->first; u < level->first + level->n; u++)
        if (where->units[u].told == (int)set->metric)
            return true;
    return false;
}

static void tell_metric(struct set *set, struct tree *tree, struct circumstances *out) {
    for (set->level = OUTLIERS_CPU; set->level < OUTLIERS_UNIT_N; set->level++) {
        size_t n = set->level == OUTLIERS_SOCKET ? set->where->layout->topology->n_sockets : 1;
        for (set->socket = 0; set->socket < n; set->socket++) {
            if (!any_of(set))
                continue;
            struct outliers found = gather(set, tree);
            keep(out, &found);
        }
    }
}

// ---- the rest ----

static bool is_outlier(const struct where *where, size_t cpu) {
    const struct topology_cpu *of = &where->layout->topology->cpus[cpu];
    return where->units[cpu].told >= 0 || where->units[where->first_core + of->core].told >= 0 ||
           where->units[where->first_socket + of->socket].told >= 0;
}

// The mean over all CPUs that are no outliers, by how much they are awake.
static double rest_of(const struct where *where, const struct snapshot *snapshot, size_t place, const double *awake) {
    const struct snapshot_layout *layout = snapshot->layout;
    double sum = 0, weights = 0;
    for (size_t c = 0; c < layout->topology->n_cpus; c++) {
        double value = snapshot->values[snapshot_metric(layout, snapshot_scope_cpu(layout, c), place)];
        if (is_outlier(where, c) || isnan(value))
            continue;
        double weight = isnan(awake[c]) ? 1 : awake[c];
        sum += weight * value;
        weights += weight;
    }
    return sum / weights;
}

static bool rest_is_fine(const struct where *where, struct tree *tree, const struct snapshot *snapshot,
                         const double *awake) {
    tree_evaluate(tree, snapshot, 0);
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (where_asks(tree, i) &&
            judge_high_at(tree->judge, tree->nodes[i].metric,
                          rest_of(where, snapshot, (size_t)tree->nodes[i].place, awake)) != JUDGE_NO)
            return false;
    return true;
}

// True if any unit is an outlier: most hosts have none, and pay for nothing else.
static bool any(const struct where *where) {
    for (size_t u = 0; u < where->n_units; u++)
        if (where->units[u].told >= 0)
            return true;
    return false;
}

void where_tell(const struct where *where, struct tree *tree, const struct snapshot *snapshot, const double *awake,
                struct circumstances *out) {
    struct set set = {.where = where, .snapshot = snapshot, .awake = awake};
    if (!any(where))
        return;
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i)) {
        size_t place = where_asks(tree, i) ? (size_t)tree->nodes[i].place : 0;
        if (!where_asks(tree, i) || isnan(snapshot->values[snapshot_metric(snapshot->layout, 0, place)]))
            continue; // nothing is known now
        set.metric = tree->nodes[i].metric;
        tell_metric(&set, tree, out);
    }
    out->rest_is_fine = out->n_outliers > 0 && rest_is_fine(where, tree, snapshot, awake);
}
