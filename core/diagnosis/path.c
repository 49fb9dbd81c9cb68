// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/path.h"

#include <errno.h>
#include <stdlib.h>

#include "core/diagnosis/tree.h"

int paths_init(struct paths *paths, const struct snapshot_layout *layout) {
    struct tree *tree = tree_new(layout);
    struct path above = {.n = 0};
    *paths = (struct paths){.all = tree ? calloc(tree->n + 1, sizeof *paths->all) : NULL};
    for (size_t i = 0; paths->all && i < tree->n; i++) {
        const struct tree_node *node = &tree->nodes[i];
        above.metrics[node->depth] = node->metric; // those above it came before
        above.n = node->depth + 1;
        if (node->place >= 0) // else it has no value, and is the last one of no path
            paths->all[paths->n++] = above;
    }
    tree_free(tree);
    return paths->all ? 0 : -ENOMEM;
}

void paths_deinit(struct paths *paths) { free(paths->all); }
