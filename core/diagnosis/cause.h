// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_CAUSE_H
#define TOPDOWND_CORE_DIAGNOSIS_CAUSE_H

// What a bottleneck most likely comes from, where the tree does not go on below it. Two kinds of evidence tell.
//
// - Misses. Many cores do not divide their back end into memory and execution. A miss delays no longer than what it
//   fetches takes to come, so misses a cycle times that latency bound the share of cycles that they explain. If all
//   levels together explain less than half of the bottleneck, it is mostly execution, and at least by the difference.
//   Else, if one level has most of the sum, it is that level; it may be less than it could explain, as misses overlap
//   and part of the wait may be execution. If no level has most of it, that is the answer. One measured metric below
//   the bottleneck is a part of it and divides nothing: it takes two.
// - Shares that the methodology leads to from the bottleneck, such as the cycles in which a queue was full. One that is
//   high and at least half as large as the bottleneck explains it; the largest one is told.
//
// docs/measurement.md has the latencies with their sources.

#include "core/diagnosis/tree.h"

// Cycles that a miss delays at most in a usual case.
#define CAUSE_CYCLES_SECOND_LEVEL 15.
#define CAUSE_CYCLES_LAST_LEVEL 80.
#define CAUSE_CYCLES_MEMORY 350.
#define CAUSE_CYCLES_WALK 60.

// Of a verdict whose path is high, in the scope in which the tree was last evaluated.
struct verdict_cause cause_find(const struct tree *tree, const struct verdict *verdict);

#endif
