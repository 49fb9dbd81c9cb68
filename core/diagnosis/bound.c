// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/bound.h"

#include <math.h>

#include "core/diagnosis/cause.h"

static bool is_share(const struct tree *tree, size_t node) {
    const struct catalog_metric *metric = &tree->layout->catalog->metrics[tree->nodes[node].metric];
    return metric->domain != METRIC_OTHER || (tree->nodes[node].depth > 0 && catalog_metric_of_operations(metric));
}

// By which siblings are compared. Shares of operations below useful work are shares of its slots; shares of clock
// cycles and of slots are compared as they are, as the vendors' thresholds do.
static double size_of(const struct tree *tree, size_t node) {
    const struct tree_node *of = &tree->nodes[node];
    size_t root = node;
    while (tree->nodes[root].depth > 0)
        root--;
    return catalog_metric_of_operations(&tree->layout->catalog->metrics[of->metric])
               ? of->value * tree->nodes[root].value
               : of->value;
}

static bool is_candidate(const struct tree *tree, size_t node, bool categories, bool high) {
    const struct tree_node *each = &tree->nodes[node];
    return isfinite(each->value) && is_share(tree, node) && (each->category || !categories) &&
           (each->high == JUDGE_YES || !high);
}

// What the node counts beside those of its siblings, from `first` on, that it includes and that are compared with it.
// A sibling without a value, or one that is not worth a look, remains a part of it.
static double rest_of(const struct tree *tree, size_t node, size_t first, bool categories, bool high) {
    double rest = size_of(tree, node);
    for (size_t i = first; i < tree->n && tree->nodes[i].depth >= tree->nodes[node].depth; i = tree_next(tree, i))
        if (tree->layout->catalog->metrics[tree->nodes[i].metric].included_in == (int)tree->nodes[node].metric &&
            is_candidate(tree, i, categories, high))
            rest -= size_of(tree, i);
    return fmax(rest, 0);
}

// The largest among `node` and its later siblings; with `high`, among those that are high. tree->n: none.
static size_t largest(const struct tree *tree, size_t node, bool categories, bool high) {
    size_t found = tree->n, depth = node < tree->n ? tree->nodes[node].depth : 0;
    double most = -INFINITY;
    for (size_t i = node; i < tree->n && tree->nodes[i].depth >= depth; i = tree_next(tree, i)) {
        double rest = is_candidate(tree, i, categories, high) ? rest_of(tree, i, node, categories, high) : -INFINITY;
        if (rest > most) {
            found = i;
            most = rest;
        }
    }
    return found;
}

// The largest other root that may really be larger than `first`, the largest candidate. -1: none.
static int find_close(const struct tree *tree, size_t first, bool categories, bool high) {
    size_t found = tree->n;
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i)) {
        if (i != first && is_candidate(tree, i, categories, high) && tree->nodes[i].to >= tree->nodes[first].from &&
            (found == tree->n || tree->nodes[i].value > tree->nodes[found].value))
            found = i;
    }
    return found < tree->n ? (int)tree->nodes[found].metric : -1;
}

// The first candidate that could have a value; -1: none is selected.
static int find_missing(const struct tree *tree, bool categories) {
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (tree->nodes[i].place >= 0 && is_share(tree, i) && (tree->nodes[i].category || !categories))
            return (int)tree->nodes[i].metric;
    return -1;
}

// True if every threshold of the first level could be judged.
static bool all_judged(const struct tree *tree, bool categories) {
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (tree->nodes[i].high == JUDGE_UNKNOWN && (tree->nodes[i].category || !categories))
            return false;
    return true;
}

// The answer if no root is high.
static void find_largest(const struct tree *tree, bool categories, struct verdict *verdict) {
    size_t node = largest(tree, 0, categories, false);
    if (node == tree->n)
        return;
    verdict->path[verdict->n++] = tree->nodes[node].metric;
    verdict->close = find_close(tree, node, categories, false);
    if (all_judged(tree, categories))
        verdict->high = JUDGE_NO;
}

static bool is_done_well(const struct catalog *catalog, const struct verdict *verdict) {
    for (size_t i = 0; i < verdict->n; i++)
        if (catalog->metrics[verdict->path[i]].waits == WAITS_NOTHING)
            return true;
    return false;
}

// True if useful work is high, and what it does proves that it is done well (struct catalog.computes_well).
static bool is_well_used(const struct tree *tree, unsigned root) {
    const struct catalog *catalog = tree->layout->catalog;
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].category == CATEGORY_RETIRING && catalog->level1.categories[i].metric == root)
            return catalog->computes_well.formula && judge_says(tree->judge, catalog->computes_well.formula);
    return false;
}

struct verdict bound_find(const struct tree *tree) {
    bool categories = tree->n > 0 && tree->nodes[0].category;
    struct verdict verdict = verdict_unknown(find_missing(tree, categories)).now;
    size_t node = largest(tree, 0, categories, true);
    if (node == tree->n) {
        find_largest(tree, categories, &verdict);
        return verdict;
    }
    verdict.high = JUDGE_YES;
    verdict.close = find_close(tree, node, categories, true);
    for (; node < tree->n && verdict.n < VERDICT_PATH_MAX; node = largest(tree, node + 1, false, true)) {
        verdict.path[verdict.n++] = tree->nodes[node].metric;
        if (tree_next(tree, node) == node + 1)
            break; // nothing is below it
    }
    verdict.well = is_done_well(tree->layout->catalog, &verdict);
    if (!verdict.well && is_well_used(tree, verdict.path[0])) {
        verdict.well = true;
        verdict.n = 1; // what it is made of is no reason to change anything
        return verdict;
    }
    verdict.cause = cause_find(tree, &verdict);
    return verdict;
}

// ---- sockets ----

static bool contains(const struct verdict *verdict, unsigned metric) {
    for (size_t i = 0; i < verdict->n; i++)
        if (verdict->path[i] == metric)
            return true;
    return false;
}

// True if the 95 % intervals of the last metric of `first`'s path do not overlap.
static bool told_apart(const struct snapshot *snapshot, size_t first, size_t second) {
    const struct snapshot_layout *layout = snapshot->layout;
    size_t place = (size_t)layout->plan->place[verdict_metric(&snapshot->verdicts[first].now)];
    const double *values = snapshot->values;
    return values[snapshot_high(layout, first, place)] < values[snapshot_low(layout, second, place)] ||
           values[snapshot_high(layout, second, place)] < values[snapshot_low(layout, first, place)];
}

static bool differ(const struct snapshot *snapshot, size_t first, size_t second) {
    const struct verdict *a = &snapshot->verdicts[first].now, *b = &snapshot->verdicts[second].now;
    bool a_high = verdict_high(a), b_high = verdict_high(b);
    if (a->n == 0 || b->n == 0)
        return false;
    if (a_high && b_high && (contains(a, b->path[b->n - 1]) || contains(b, a->path[a->n - 1])))
        return false; // one is below the other
    return (a_high && told_apart(snapshot, first, second)) || (b_high && told_apart(snapshot, second, first));
}

bool bound_sockets_differ(const struct snapshot *snapshot) {
    size_t n = snapshot->layout->topology->n_sockets;
    for (size_t a = 0; a + 1 < n; a++)
        for (size_t b = a + 1; b < n; b++)
            if (differ(snapshot, snapshot_scope_socket(a), snapshot_scope_socket(b)))
                return true;
    return false;
}
