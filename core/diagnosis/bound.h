// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_BOUND_H
#define TOPDOWND_CORE_DIAGNOSIS_BOUND_H

// What a scope is bound by: the largest root that is high, then the largest node below it that is high, and so on.
// Where no root is high, the largest one alone. Level-1 categories are the only candidates where there are some.

#include "core/diagnosis/tree.h"

struct bound {
    size_t n; // nodes of the path; 0: nothing is known
    size_t path[TREE_DEPTH_MAX];
    size_t close; // the largest other candidate whose interval overlaps that of the path's first; tree->n: none
    enum judge_answer exceeded; // unknown: no root is high, as far as that is known
    int missing; // where nothing is known: the place in the plan of a candidate that has no value; -1: none is selected
};

// Of the scope that the tree was evaluated in last.
struct bound bound_find(const struct tree *tree);

#endif
