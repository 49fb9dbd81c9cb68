// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/tree.h"

#include <math.h>
#include <stdlib.h>

// The input of the tree: the catalog's metrics as lists of siblings, and the ones to include.
struct links {
    int *first, *next; // of each metric: its first child, its next sibling; -1: none
    bool *wanted;      // measured, or above a measured metric
    bool *root;        // the methodology begins here
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
    if (!links->wanted[metric] || depth >= VERDICT_PATH_MAX)
        return;
    links->wanted[metric] = false; // each once
    tree->nodes[tree->n++] = (struct tree_node){.metric = metric,
                                                .place = tree->layout->plan->place[metric],
                                                .depth = depth,
                                                .category = category,
                                                .value = NAN,
                                                .from = NAN,
                                                .to = NAN,
                                                .high = JUDGE_UNKNOWN};
    for (int child = links->first[metric]; child >= 0; child = links->next[child])
        add_node(tree, links, (unsigned)child, depth + 1, false);
}

static void find_evidence(struct tree *tree) {
    static const char *const names[TREE_EVIDENCE_N] = {
        [TREE_IPC] = CATALOG_IPC,         [TREE_L1D_MPKI] = CATALOG_L1D_MPKI,   [TREE_L2_MPKI] = CATALOG_L2_MPKI,
        [TREE_LL_MPKI] = CATALOG_LL_MPKI, [TREE_DTLB_MPKI] = CATALOG_DTLB_MPKI,
    };
    const struct snapshot_layout *layout = tree->layout;
    for (size_t i = 0; i < TREE_EVIDENCE_N; i++) {
        int place = snapshot_layout_place(layout, names[i]);
        tree->evidence[i] =
            place >= 0 ? (int)catalog_metric_named(layout->catalog, layout->plan->metrics[place].metric) : -1;
    }
}

static bool build(struct tree *tree) {
    const struct catalog *catalog = tree->layout->catalog;
    struct links links;
    bool made = links_init(&links, catalog, tree->layout->plan->place);
    for (size_t i = 0; made && catalog->level1.present && i < catalog->level1.n_categories; i++)
        add_node(tree, &links, catalog->level1.categories[i].metric, 0, true);
    for (unsigned m = 0; made && m < catalog->n_metrics; m++)
        if (catalog->metrics[m].parent < 0 && (links.first[m] >= 0 || links.root[m]))
            add_node(tree, &links, m, 0, false);
    links_deinit(&links);
    return made;
}

struct tree *tree_new(const struct snapshot_layout *layout) {
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->layout = layout;
    find_evidence(tree);
    tree->nodes = calloc(layout->catalog->n_metrics + 1, sizeof *tree->nodes);
    tree->judge = judge_new(layout->catalog);
    if (!tree->nodes || !tree->judge)
        return tree_free(tree);
    return build(tree) ? tree : tree_free(tree);
}

struct tree *tree_free(struct tree *tree) {
    if (tree) {
        judge_free(tree->judge);
        free(tree->nodes);
        free(tree);
    }
    return NULL;
}

void tree_evaluate(struct tree *tree, const struct snapshot *snapshot, size_t scope) {
    const struct snapshot_layout *layout = tree->layout;
    judge_take(tree->judge, snapshot, scope);
    for (size_t i = 0; i < tree->n; i++) {
        struct tree_node *node = &tree->nodes[i];
        node->high = judge_high(tree->judge, node->metric);
        if (node->place < 0)
            continue;
        node->value = snapshot->values[snapshot_metric(layout, scope, (size_t)node->place)];
        node->from = snapshot->values[snapshot_low(layout, scope, (size_t)node->place)];
        node->to = snapshot->values[snapshot_high(layout, scope, (size_t)node->place)];
    }
}

size_t tree_next(const struct tree *tree, size_t node) {
    size_t next = node + 1;
    while (next < tree->n && tree->nodes[next].depth > tree->nodes[node].depth)
        next++;
    return next;
}
