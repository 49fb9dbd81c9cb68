// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_PATH_H
#define TOPDOWND_CORE_DIAGNOSIS_PATH_H

// The paths that verdicts over a layout can have, for what is made before there is a snapshot: labels of series. There
// is one for each metric of the plan that the decision tree has, in the order of the tree.

#include "core/tally/snapshot.h"

struct path {
    size_t n;
    unsigned metrics[VERDICT_PATH_MAX]; // of the catalog, root first; the last one is in the plan
};

struct paths {
    struct path *all;
    size_t n; // 0: the plan has nothing of the tree, so that there never is a verdict
};

// Returns 0 or -ENOMEM. Free with paths_deinit in every case.
int paths_init(struct paths *paths, const struct snapshot_layout *layout);
void paths_deinit(struct paths *paths);

#endif
