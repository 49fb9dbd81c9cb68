// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_TREE_H
#define TOPDOWND_CORE_DIAGNOSIS_TREE_H

// The measured part of the methodology's tree, judged in one scope of one snapshot.
//
// Roots are the level-1 categories, then all other metrics that have metrics below them or where the methodology
// begins. An unmeasured metric is a node only if something below it is measured.

#include <stdbool.h>
#include <stddef.h>

#include "core/diagnosis/judge.h"
#include "core/tally/snapshot.h"

struct tree_node {
    unsigned metric; // of the catalog
    int place;       // of the metric in the plan; -1: not selected
    unsigned depth;  // 0: a root
    bool category;   // of level 1
    // for the scope evaluated last:
    double value;    // in export scale; NaN: none
    double from, to; // its 95 % interval, likewise
    enum judge_answer high;
};

// Metrics that every vendor has, which tell what a bottleneck comes from.
enum tree_evidence { TREE_IPC, TREE_L1D_MPKI, TREE_L2_MPKI, TREE_LL_MPKI, TREE_DTLB_MPKI, TREE_EVIDENCE_N };

struct tree {
    const struct snapshot_layout *layout;
    int evidence[TREE_EVIDENCE_N]; // of the catalog; -1: not measured
    struct tree_node *nodes;       // each before its descendants
    size_t n;
    struct judge *judge;
};

// Borrows the layout. NULL if out of memory.
struct tree *tree_new(const struct snapshot_layout *layout);
struct tree *tree_free(struct tree *tree);

// Fills in the values and whether they are high.
void tree_evaluate(struct tree *tree, const struct snapshot *snapshot, size_t scope);

// The node after `node` and all its descendants.
size_t tree_next(const struct tree *tree, size_t node);

#endif
