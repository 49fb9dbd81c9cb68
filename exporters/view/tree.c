// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/tree.h"

#include <math.h>
#include <stdlib.h>

// What the tree is built from: the catalog's metrics as lists of siblings, and which of them lead to something.
struct links {
    int *first, *next; // of each metric: the first below it, the next beside it; -1: none
    bool *wanted;      // measured, or above what is measured
    bool *root;        // where the methodology begins
};

static void links_deinit(struct links *links) {
    free(links->root);
    free(links->wanted);
    free(links->next);
    free(links->first);
}

static bool links_init(struct links *links, const struct catalog *catalog, const int *places) {
    size_t n = catalog->n_metrics;
    links->first = malloc((n + 1) * sizeof *links->first);
    links->next = malloc((n + 1) * sizeof *links->next);
    links->wanted = calloc(n + 1, sizeof *links->wanted);
    links->root = calloc(n + 1, sizeof *links->root);
    if (!links->first || !links->next || !links->wanted || !links->root)
        return false;
    for (size_t m = 0; m < n; m++)
        links->first[m] = links->next[m] = -1;
    for (size_t m = n; m-- > 0;) {
        int parent = catalog->metrics[m].parent;
        if (parent >= 0) {
            links->next[m] = links->first[parent];
            links->first[parent] = (int)m;
        }
        for (int above = (int)m; places[m] >= 0 && above >= 0 && !links->wanted[above];
             above = catalog->metrics[above].parent)
            links->wanted[above] = true;
    }
    for (size_t i = 0; i < catalog->n_nodes; i++)
        links->root[catalog->nodes[i].metric] = catalog->nodes[i].root;
    return true;
}

static void add_node(struct tree *tree, struct links *links, unsigned metric, unsigned depth, bool category) {
    if (!links->wanted[metric] || depth >= TREE_DEPTH_MAX)
        return;
    links->wanted[metric] = false; // each once
    tree->nodes[tree->n++] = (struct tree_node){.metric = metric,
                                                .place = tree->places[metric],
                                                .depth = depth,
                                                .category = category,
                                                .value = NAN,
                                                .from = NAN,
                                                .to = NAN,
                                                .high = TREE_HIGH_UNKNOWN};
    for (int child = links->first[metric]; child >= 0; child = links->next[child])
        add_node(tree, links, (unsigned)child, depth + 1, false);
}

static bool build(struct tree *tree) {
    const struct catalog *catalog = tree->view->layout->catalog;
    struct links links;
    bool made = links_init(&links, catalog, tree->places);
    for (size_t i = 0; made && catalog->level1.present && i < catalog->level1.n_categories; i++)
        add_node(tree, &links, catalog->level1.categories[i].metric, 0, true);
    for (unsigned m = 0; made && m < catalog->n_metrics; m++)
        if (catalog->metrics[m].parent < 0 && (links.first[m] >= 0 || links.root[m]))
            add_node(tree, &links, m, 0, false);
    links_deinit(&links);
    return made;
}

struct tree *tree_new(const struct view *view) {
    const struct plan *plan = view->layout->plan;
    size_t n = view->layout->catalog->n_metrics;
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->view = view;
    tree->nodes = calloc(n + 1, sizeof *tree->nodes);
    tree->places = malloc((n + 1) * sizeof *tree->places);
    tree->values = malloc((n + 1) * sizeof *tree->values);
    if (!tree->nodes || !tree->places || !tree->values)
        return tree_free(tree);
    for (size_t m = 0; m < n; m++) {
        tree->places[m] = -1;
        tree->values[m] = NAN;
    }
    for (size_t i = 0; i < plan->n_metrics; i++)
        tree->places[plan->metrics[i].metric] = (int)i;
    return build(tree) ? tree : tree_free(tree);
}

struct tree *tree_free(struct tree *tree) {
    if (tree) {
        free(tree->values);
        free(tree->places);
        free(tree->nodes);
        free(tree);
    }
    return NULL;
}

// What is missing settles nothing, unless the threshold comes out the same whatever it is.
static enum tree_high judge(const double *values, const struct formula *threshold) {
    double high = formula_evaluate_known(threshold, NULL, values);
    return isnan(high) ? TREE_HIGH_UNKNOWN : high != 0 ? TREE_HIGH : TREE_LOW;
}

void tree_evaluate(struct tree *tree, const struct snapshot *snapshot, size_t scope) {
    const struct snapshot_layout *layout = tree->view->layout;
    for (size_t i = 0; i < layout->n_metrics; i++)
        tree->values[layout->plan->metrics[i].metric] =
            snapshot->values[snapshot_metric(layout, scope, i)] / view_metric(tree->view, i)->export_scale;
    for (size_t i = 0; i < tree->n; i++) {
        struct tree_node *node = &tree->nodes[i];
        const struct catalog_metric *metric = &layout->catalog->metrics[node->metric];
        node->value = tree->values[node->metric] * metric->export_scale;
        if (node->place >= 0) {
            node->value = snapshot->values[snapshot_metric(layout, scope, (size_t)node->place)];
            node->from = snapshot->values[snapshot_low(layout, scope, (size_t)node->place)];
            node->to = snapshot->values[snapshot_high(layout, scope, (size_t)node->place)];
        }
        node->high =
            metric->threshold && isfinite(node->value) ? judge(tree->values, metric->threshold) : TREE_HIGH_UNKNOWN;
    }
}

size_t tree_next(const struct tree *tree, size_t node) {
    size_t next = node + 1;
    while (next < tree->n && tree->nodes[next].depth > tree->nodes[node].depth)
        next++;
    return next;
}

static bool is_share(const struct tree *tree, size_t node) {
    return tree->view->layout->catalog->metrics[tree->nodes[node].metric].domain != METRIC_OTHER;
}

static bool is_candidate(const struct tree *tree, size_t node, bool categories, bool high) {
    const struct tree_node *each = &tree->nodes[node];
    return isfinite(each->value) && is_share(tree, node) && (each->category || !categories) &&
           (each->high == TREE_HIGH || !high);
}

// The largest of the nodes beside `node` and after it; with `high` of those above their thresholds. tree->n: none.
static size_t largest(const struct tree *tree, size_t node, bool categories, bool high) {
    size_t found = tree->n, depth = node < tree->n ? tree->nodes[node].depth : 0;
    for (size_t i = node; i < tree->n && tree->nodes[i].depth >= depth; i = tree_next(tree, i)) {
        if (is_candidate(tree, i, categories, high) &&
            (found == tree->n || tree->nodes[i].value > tree->nodes[found].value))
            found = i;
    }
    return found;
}

// The largest root that may really be larger than the root `first`, the largest of these candidates. tree->n: none.
static size_t find_close(const struct tree *tree, size_t first, bool categories, bool high) {
    size_t found = tree->n;
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i)) {
        if (i != first && is_candidate(tree, i, categories, high) && tree->nodes[i].to >= tree->nodes[first].from &&
            (found == tree->n || tree->nodes[i].value > tree->nodes[found].value))
            found = i;
    }
    return found;
}

// Why none of the candidates has a value.
static const char *why_unknown(const struct tree *tree, bool categories, const struct snapshot *snapshot,
                               size_t scope) {
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i)) {
        const struct tree_node *node = &tree->nodes[i];
        if (node->place >= 0 && is_share(tree, i) && (node->category || !categories))
            return view_absent_text(tree->view, snapshot, scope, (size_t)node->place);
    }
    return "no metric group that is measured here says what the CPUs are bound by";
}

struct tree_bound tree_find_bound(const struct tree *tree, const struct snapshot *snapshot, size_t scope) {
    struct tree_bound bound = {.exceeded = TREE_HIGH, .close = tree->n, .reason = ""};
    bool categories = tree->n > 0 && tree->nodes[0].category;
    size_t node = largest(tree, 0, categories, true);
    if (node < tree->n)
        bound.close = find_close(tree, node, categories, true);
    for (; node < tree->n && bound.n < TREE_DEPTH_MAX; node = largest(tree, node + 1, false, true)) {
        bound.path[bound.n++] = node;
        if (tree_next(tree, node) == node + 1)
            return bound; // nothing is below it
    }
    if (bound.n > 0)
        return bound;
    node = largest(tree, 0, categories, false);
    bound.exceeded = TREE_LOW;
    if (node == tree->n) {
        bound.reason = why_unknown(tree, categories, snapshot, scope);
        bound.exceeded = TREE_HIGH_UNKNOWN;
        return bound;
    }
    bound.path[bound.n++] = node;
    bound.close = find_close(tree, node, categories, false);
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (tree->nodes[i].high == TREE_HIGH_UNKNOWN && (tree->nodes[i].category || !categories))
            bound.exceeded = TREE_HIGH_UNKNOWN;
    return bound;
}

static void add_share(const struct tree *tree, size_t node, struct text *out) {
    const struct catalog_metric *metric = &tree->view->layout->catalog->metrics[tree->nodes[node].metric];
    text_format(out, "%s, %.3g %% of %s", view_title(metric), 100 * tree->nodes[node].value,
                view_domain_text(metric->domain));
}

void tree_bound_text(const struct tree *tree, const struct tree_bound *bound, struct text *out) {
    if (bound->n == 0) {
        text_format(out, "Not known: %s.", bound->reason);
        return;
    }
    const struct tree_node *last = &tree->nodes[bound->path[bound->n - 1]];
    const char *meaning = tree->view->layout->catalog->metrics[last->metric].meaning;
    if (bound->exceeded != TREE_HIGH)
        text_string(out, "Nothing stands out. The largest share: ");
    for (size_t i = 0; i < bound->n; i++) {
        text_string(out, i > 0 ? "; in it " : "");
        add_share(tree, bound->path[i], out);
    }
    if (bound->exceeded == TREE_HIGH)
        text_format(out, ".%s%s", meaning[0] ? " " : "", meaning);
    else if (bound->exceeded == TREE_LOW)
        text_string(out, ". No share of the first level is above its threshold.");
    else
        text_string(out, ". Not every threshold of the first level could be judged.");
    if (bound->close == tree->n)
        return;
    const struct tree_node *first = &tree->nodes[bound->path[0]];
    text_format(out, " %s cannot be told apart from ",
                view_title(&tree->view->layout->catalog->metrics[first->metric]));
    add_share(tree, bound->close, out);
    text_string(out, ": their 95 % intervals overlap.");
}
