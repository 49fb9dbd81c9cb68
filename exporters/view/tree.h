// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_TREE_H
#define TOPDOWND_EXPORTERS_VIEW_TREE_H

// The tree of the methodology as far as it is measured, and what it says of a host, a socket or a CPU.
//
// Roots are the level-1 categories, then all other metrics that lead to something: those with metrics below them, and
// those where the methodology begins. A metric that is not measured is a node only where something below it is.

#include <stddef.h>

#include "exporters/view/text.h"
#include "exporters/view/view.h"

enum { TREE_DEPTH_MAX = 32 }; // what lies deeper is left out

enum tree_high { TREE_LOW, TREE_HIGH, TREE_HIGH_UNKNOWN };

struct tree_node {
    unsigned metric; // of the catalog
    int place;       // of the metric in the plan; -1: not selected
    unsigned depth;  // 0: a root
    bool category;   // of level 1
    // of the scope that was evaluated last
    double value;    // in export scale; NaN where there is none
    double from, to; // its 95 % interval, likewise
    enum tree_high high;
};

struct tree {
    const struct view *view;
    struct tree_node *nodes; // each before those below it
    size_t n;
    int *places;    // of each of the catalog's metrics in the plan; -1: not selected
    double *values; // of each of the catalog's metrics in its formula's own scale, for thresholds
};

// Borrows the view. NULL where memory is short.
struct tree *tree_new(const struct view *view);
struct tree *tree_free(struct tree *tree);

// Fills in values, and whether they are above their thresholds. Where a threshold reads metrics that have no value,
// `high` is known only if it is the same whether these are as small or as large as can be.
void tree_evaluate(struct tree *tree, const struct snapshot *snapshot, size_t scope);

// The node after `node` and all that is below it.
size_t tree_next(const struct tree *tree, size_t node);

// What the scope that was evaluated last is bound by: the largest root that is above its threshold, then the largest
// such node below it, and so on. Where no root is, the largest one alone. Level-1 categories are the only candidates
// where there are some.
struct tree_bound {
    size_t n; // nodes of the path; 0: nothing is known
    size_t path[TREE_DEPTH_MAX];
    size_t close; // the largest other candidate whose interval overlaps that of the path's first; tree->n: none
    enum tree_high exceeded; // unknown: none is above its threshold, as far as that is known
    const char *reason;      // why nothing is known; "" where something is
};
struct tree_bound tree_find_bound(const struct tree *tree, const struct snapshot *snapshot, size_t scope);

// In a sentence or two.
void tree_bound_text(const struct tree *tree, const struct tree_bound *bound, struct text *out);

#endif
