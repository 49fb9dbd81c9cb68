// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_BOUND_H
#define TOPDOWND_CORE_DIAGNOSIS_BOUND_H

// Finds a scope's bottleneck: the largest high root, then the largest high node below it, and so on. If no root is
// high, only the largest root. If there are level-1 categories, only they are candidate roots.

#include "core/diagnosis/tree.h"

struct bound {
    size_t n; // nodes of the path; 0: nothing is known
    size_t path[TREE_DEPTH_MAX];
    size_t close; // the largest other candidate whose interval overlaps that of the path's first node; tree->n: none
    enum judge_answer exceeded; // unknown: no root is known to be high
    int missing; // if nothing is known: the place in the plan of a candidate without a value; -1: none is selected
};

// For the scope in which the tree was last evaluated.
struct bound bound_find(const struct tree *tree);

#endif
