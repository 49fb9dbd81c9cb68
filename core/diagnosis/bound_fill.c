// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "core/diagnosis/around.h"
#include "core/diagnosis/bound.h"

int bound_fill(struct snapshot *snapshot) {
    struct tree *tree = tree_new(snapshot->layout);
    struct around *around = tree ? around_new(snapshot->layout, true) : NULL;
    if (!around) {
        tree_free(tree);
        return -ENOMEM;
    }
    for (size_t scope = 0; scope <= snapshot->layout->topology->n_sockets; scope++) {
        struct verdict *now = &snapshot->verdicts[scope].now;
        struct verdict_since since = now->since;
        tree_evaluate(tree, snapshot, scope);
        *now = bound_find(tree);
        now->since = since;
    }
    around_fill(around, tree, snapshot, true);
    around_free(around);
    tree_free(tree);
    return 0;
}
