// SPDX-License-Identifier: Apache-2.0
//
// The verdict as series: for each socket one for every path of the decision tree, of which a snapshot has a value for
// at most one.

#include "core/diagnosis/tree.h"
#include "exporters/series/series_private.h"

// The labels of one node, zero-terminated.
struct words {
    struct text path, next;
};

// Appends the names of the nodes from the root to this one.
static void put_path(const struct tree *tree, size_t node, struct text *out) {
    size_t parent = node;
    while (tree->nodes[node].depth > 0 && tree->nodes[parent].depth >= tree->nodes[node].depth)
        parent--;
    if (parent < node) {
        put_path(tree, parent, out);
        text_string(out, "/");
    }
    text_string(out, tree->layout->catalog->metrics[tree->nodes[node].metric].export_name);
}

// False for a metric group that no host measures. Labels stay when a plan changes, so only the catalog decides.
static bool is_step(const struct catalog *catalog, const char *name) {
    int group = catalog_find_metric(catalog, name) < 0 ? catalog_find_group(catalog, name) : -1;
    return group < 0 || catalog_group_measurable(catalog, (unsigned)group);
}

// Appends what the methodology looks at next.
static void put_next(const struct tree *tree, size_t node, struct text *out) {
    const struct catalog *catalog = tree->layout->catalog;
    for (size_t i = 0; i < catalog->n_nodes; i++)
        for (size_t n = 0; catalog->nodes[i].metric == tree->nodes[node].metric && n < catalog->nodes[i].n_next; n++)
            if (is_step(catalog, catalog->nodes[i].next[n]))
                text_format(out, "%s%s", out->length > 0 ? "," : "", catalog->nodes[i].next[n]);
}

// The level-1 category that the node is part of; NULL: none.
static const char *find_category(const struct tree *tree, size_t node) {
    const struct catalog_level1 *level1 = &tree->layout->catalog->level1;
    while (tree->nodes[node].depth > 0)
        node--;
    for (size_t i = 0; tree->nodes[node].category && i < level1->n_categories; i++)
        if (level1->categories[i].metric == tree->nodes[node].metric)
            return category_name(level1->categories[i].category);
    return NULL;
}

static void add_node(struct series *series, const struct view *view, const struct tree *tree, size_t node,
                     const struct words *words) {
    const char *category = find_category(tree, node);
    for (size_t s = 0; s < series_n_scopes(view, OF_SOCKETS); s++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, s);
        struct series_label labels[4] = {{"socket", scope.socket}, {"path", words->path.data}};
        size_t n = 2;
        if (category)
            labels[n++] = (struct series_label){"category", category};
        if (words->next.data[0] != '\0')
            labels[n++] = (struct series_label){"next", words->next.data};
        series_add(series, "", labels, n, SERIES_WHOLE,
                   snapshot_verdict(view->layout, scope.scope, (size_t)tree->nodes[node].place));
    }
}

static void add_tree(struct series *series, const struct view *view, const struct tree *tree) {
    for (size_t node = 0; node < tree->n && !series->failed; node++) {
        struct words words = {{0}, {0}};
        if (tree->nodes[node].place < 0)
            continue; // has no value, so it is in no verdict
        put_path(tree, node, &words.path);
        put_next(tree, node, &words.next);
        text_append(&words.path, "", 1);
        text_append(&words.next, "", 1);
        series->failed = series->failed || words.path.failed || words.next.failed;
        if (!series->failed)
            add_node(series, view, tree, node, &words);
        text_free(&words.path);
        text_free(&words.next);
    }
}

void series_add_bounds(struct series *series, const struct view *view) {
    struct tree *tree = tree_new(view->layout);
    series->failed = series->failed || !tree;
    if (!tree)
        return;
    size_t before = series->n_lines;
    add_tree(series, view, tree);
    series->n_rare += series->n_lines - before; // each socket has one of these, or that of no path, below
    for (size_t s = 0; s < series_n_scopes(view, OF_SOCKETS) && tree->n > 0; s++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, s);
        const struct series_label labels[] = {{"socket", scope.socket}, {"path", "none"}};
        series_add(series, "", labels, 2, SERIES_WHOLE,
                   snapshot_verdict(view->layout, scope.scope, view->layout->n_metrics));
    }
    tree_free(tree);
}

// False: the plan has nothing of the tree, so that there never is a verdict.
bool series_has_tree(struct series *series, const struct view *view) {
    struct tree *tree = tree_new(view->layout);
    bool any = tree && tree->n > 0;
    series->failed = series->failed || !tree;
    tree_free(tree);
    return any;
}

void series_add_bound_since(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_REAL, snapshot_verdict_since(view->layout, scope->scope));
}

void series_add_bound_unseen(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_WHOLE, snapshot_verdict_unseen(view->layout, scope->scope));
}

void series_add_bound_certain(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_WHOLE, snapshot_verdict_certain(view->layout, scope->scope));
}
