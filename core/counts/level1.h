// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_LEVEL1_H
#define TOPDOWND_CORE_COUNTS_LEVEL1_H

// Divides pipeline slots into level-1 categories that add up to all pipeline slots.

#include <stdbool.h>

#include "core/base/lanes.h"
#include "core/spec/catalog.h"

enum {
    LEVEL1_DEBT_MAX = 100, // debt limit, in the busiest recent call's slots: far above any noise
    LEVEL1_MEMORY = 1000   // calls after which the busiest one weighs 1/e
};

// What one CPU's counters have withheld so far; all zero at first.
struct level1_debt {
    double owed[CATEGORY_N]; // sums to 0; negative: the category got too much
    double busiest_slots;    // of a recent call, decaying
};

// Pipeline slots of windows, one in each lane.
struct level1_split {
    struct lanes categories[CATEGORY_N]; // in the order of level1.categories
    struct lanes slots;                  // all
    bool possible[LANES];                // else the window has none of these
};

// Converts CPUs' windows, or their rounds if level 1 is measured in parts, from counts by catalog event to pipeline
// slots by category. The vendor's shares are scaled to add up to 1; a slightly negative share stays negative.
// Impossible if a formula divides by zero, or if the shares have no positive sum. Without pipeline slots: possible, all
// 0. `values` is memory for the values of the catalog's metrics; those that level 1 needs are written.
void level1_split(const struct catalog *catalog, const struct lanes *counts, struct lanes *values,
                  struct level1_split *split);

// The slots that each window's thread lost to its sibling; 0 where the PMU does not tell.
struct lanes level1_contention(const struct catalog *catalog, const struct lanes *counts);

// Turns signed slots into an increase of counters, which only grow. If a category's sum with its debt is negative, it
// increases by 0 and owes the rest; the others together give up the same amount, so that the increase adds up to the
// sum of `signed_slots`. Nothing is clipped, so noise builds up no bias. Only a debt above LEVEL1_DEBT_MAX times the
// slots of the busiest recent call is forgiven, so that a category that was negative for long is not missing for long.
// Quiet calls forgive no debt of a busy one, unless LEVEL1_MEMORY calls or more have been quiet.
void level1_increase(const double *signed_slots, size_t n, struct level1_debt *debt, double *increase);

#endif
