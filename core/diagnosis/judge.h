// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_JUDGE_H
#define TOPDOWND_CORE_DIAGNOSIS_JUDGE_H

// Judges whether a metric is high in one scope of one snapshot, so that the methodology looks closer.
//
// The spec's threshold decides. A root of the decision tree without one (a level-1 category, or a share that has
// metrics below it or where the methodology begins) is high above JUDGE_SHARE: a fifth of the pipeline slots or cycles
// is worth a look. Retiring is high above JUDGE_RETIRING: it is useful work, so it is worth a look only if it is nearly
// everything. Other metrics are not judged.
//
// With a missing value the answer is unknown, unless the threshold gives the same result for any such value
// (formula_evaluate_known).

#include <stdbool.h>
#include <stddef.h>

#include "core/spec/catalog.h"
#include "core/tally/snapshot.h"

#define JUDGE_SHARE 0.2
#define JUDGE_RETIRING 0.7

struct judge; // private: the values of one scope

// The catalog is borrowed. NULL if out of memory.
struct judge *judge_new(const struct catalog *catalog);
struct judge *judge_free(struct judge *judge); // returns NULL, takes NULL

// True if this catalog metric can be judged.
bool judge_can(const struct judge *judge, unsigned metric);

// Takes the scope's values and intervals; later answers are about this scope.
void judge_take(struct judge *judge, const struct snapshot *snapshot, size_t scope);

// The metric's value as exported; NaN: none.
double judge_value(const struct judge *judge, unsigned metric);

// Whether the metric is high.
enum judge_answer judge_high(const struct judge *judge, unsigned metric);

// Whether it would be high if all values were multiplied by `factor`.
enum judge_answer judge_high_scaled(struct judge *judge, unsigned metric, double factor);

// Whether it would be high if its value were `value`, as exported, and all others as they are.
enum judge_answer judge_high_at(struct judge *judge, unsigned metric, double value);

// Whether a formula over the metrics' values is certainly not 0.
bool judge_says(const struct judge *judge, const struct formula *formula);

// Whether judge_high would give the same answer if all values were at the lower ends of their 95 % intervals, or all at
// the upper ends. Unknown if judge_high is, or if this depends on a missing interval.
enum judge_answer judge_certain(const struct judge *judge, unsigned metric);

#endif
