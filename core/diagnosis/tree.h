// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_TREE_H
#define TOPDOWND_CORE_DIAGNOSIS_TREE_H

// The tree of the methodology as far as it is measured, judged in one scope of one snapshot.
//
// Roots are the level-1 categories, then all other metrics that lead to something: those with metrics below them, and
// those where the methodology begins. A metric that is not measured is a node only where something below it is.

#include <stdbool.h>
#include <stddef.h>

#include "core/diagnosis/judge.h"
#include "core/tally/snapshot.h"

enum { TREE_DEPTH_MAX = 32 }; // what lies deeper is left out

struct tree_node {
    unsigned metric; // of the catalog
    int place;       // of the metric in the plan; -1: not selected
    unsigned depth;  // 0: a root
    bool category;   // of level 1
    // of the scope that was evaluated last
    double value;    // in export scale; NaN where there is none
    double from, to; // its 95 % interval, likewise
    enum judge_answer high;
};

struct tree {
    const struct snapshot_layout *layout;
    struct tree_node *nodes; // each before those below it
    size_t n;
    struct judge *judge;
};

// Borrows the layout. NULL where memory is short.
struct tree *tree_new(const struct snapshot_layout *layout);
struct tree *tree_free(struct tree *tree);

// Fills in values, and whether they are high.
void tree_evaluate(struct tree *tree, const struct snapshot *snapshot, size_t scope);

// The node after `node` and all that is below it.
size_t tree_next(const struct tree *tree, size_t node);

#endif
