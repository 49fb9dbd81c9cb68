// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_JUDGE_H
#define TOPDOWND_CORE_DIAGNOSIS_JUDGE_H

// Whether a metric is high in one scope of one snapshot, so that the methodology says to look closer.
//
// The spec's threshold decides. A root of the decision tree that has none (a level-1 category, or a share that has
// metrics below it or where the methodology begins) is high above JUDGE_SHARE, retiring above JUDGE_RETIRING: a fifth
// of the pipeline slots or cycles is worth a look, and retiring is wanted, so that it is worth one only where it is
// nearly all. Nothing else is judged.
//
// A missing value settles nothing, unless the threshold comes out the same whatever that value is
// (formula_evaluate_known).

#include <stdbool.h>
#include <stddef.h>

#include "core/spec/catalog.h"
#include "core/tally/snapshot.h"

#define JUDGE_SHARE 0.2
#define JUDGE_RETIRING 0.7

enum judge_answer { JUDGE_NO, JUDGE_YES, JUDGE_UNKNOWN };

struct judge; // private: the values of one scope

// The catalog is borrowed. NULL where memory is short.
struct judge *judge_new(const struct catalog *catalog);
struct judge *judge_free(struct judge *judge); // returns NULL, takes NULL

// Whether anything judges this metric of the catalog.
bool judge_can(const struct judge *judge, unsigned metric);

// Takes the scope's values and intervals; all answers are about the scope that was taken last.
void judge_take(struct judge *judge, const struct snapshot *snapshot, size_t scope);

// The metric's value as exported; NaN: it has none.
double judge_value(const struct judge *judge, unsigned metric);

// Whether the metric is high.
enum judge_answer judge_high(const struct judge *judge, unsigned metric);

// Whether it were high if all values were this many times as large.
enum judge_answer judge_high_scaled(struct judge *judge, unsigned metric, double factor);

// Whether judge_high would say the same if all values were at the lower ends of their 95 % intervals, or all at the
// upper ones; unknown where it is itself, or where that depends on an interval that is missing.
enum judge_answer judge_certain(const struct judge *judge, unsigned metric);

#endif
