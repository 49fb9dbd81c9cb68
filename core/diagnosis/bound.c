// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/bound.h"

#include <math.h>

static bool is_share(const struct tree *tree, size_t node) {
    return tree->layout->catalog->metrics[tree->nodes[node].metric].domain != METRIC_OTHER;
}

static bool is_candidate(const struct tree *tree, size_t node, bool categories, bool high) {
    const struct tree_node *each = &tree->nodes[node];
    return isfinite(each->value) && is_share(tree, node) && (each->category || !categories) &&
           (each->high == JUDGE_YES || !high);
}

// The largest among `node` and its later siblings; with `high`, among those that are high. tree->n: none.
static size_t largest(const struct tree *tree, size_t node, bool categories, bool high) {
    size_t found = tree->n, depth = node < tree->n ? tree->nodes[node].depth : 0;
    for (size_t i = node; i < tree->n && tree->nodes[i].depth >= depth; i = tree_next(tree, i)) {
        if (is_candidate(tree, i, categories, high) &&
            (found == tree->n || tree->nodes[i].value > tree->nodes[found].value))
            found = i;
    }
    return found;
}

// The largest other root that may really be larger than `first`, the largest candidate. tree->n: none.
static size_t find_close(const struct tree *tree, size_t first, bool categories, bool high) {
    size_t found = tree->n;
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i)) {
        if (i != first && is_candidate(tree, i, categories, high) && tree->nodes[i].to >= tree->nodes[first].from &&
            (found == tree->n || tree->nodes[i].value > tree->nodes[found].value))
            found = i;
    }
    return found;
}

// The first candidate that could have a value; -1: none is selected.
static int find_missing(const struct tree *tree, bool categories) {
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (tree->nodes[i].place >= 0 && is_share(tree, i) && (tree->nodes[i].category || !categories))
            return tree->nodes[i].place;
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
static struct bound find_largest(const struct tree *tree, bool categories) {
    struct bound bound = {.close = tree->n, .exceeded = JUDGE_UNKNOWN, .missing = -1};
    size_t node = largest(tree, 0, categories, false);
    if (node == tree->n) {
        bound.missing = find_missing(tree, categories);
        return bound;
    }
    bound.path[bound.n++] = node;
    bound.close = find_close(tree, node, categories, false);
    if (all_judged(tree, categories))
        bound.exceeded = JUDGE_NO;
    return bound;
}

struct bound bound_find(const struct tree *tree) {
    struct bound bound = {.exceeded = JUDGE_YES, .missing = -1};
    bool categories = tree->n > 0 && tree->nodes[0].category;
    size_t node = largest(tree, 0, categories, true);
    if (node == tree->n)
        return find_largest(tree, categories);
    bound.close = find_close(tree, node, categories, true);
    for (; node < tree->n && bound.n < TREE_DEPTH_MAX; node = largest(tree, node + 1, false, true)) {
        bound.path[bound.n++] = node;
        if (tree_next(tree, node) == node + 1)
            break; // nothing is below it
    }
    return bound;
}
