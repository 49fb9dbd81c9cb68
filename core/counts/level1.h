// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_LEVEL1_H
#define TOPDOWND_CORE_COUNTS_LEVEL1_H

// Pipeline slots by level-1 category, so that the categories add up to all pipeline slots.

#include <stdbool.h>

#include "core/spec/catalog.h"

enum {
    LEVEL1_DEBT_MAX = 100, // the busiest recent call's slots that may be owed: noise never comes near
    LEVEL1_MEMORY = 1000   // calls after which the busiest one counts for 1/e
};

// What one CPU's counters have withheld so far; all zero at the beginning.
struct level1_debt {
    double owed[CATEGORY_N]; // adds up to 0; negative: the category has got too much
    double busiest_slots;    // of a recent call, fading
};

// One window of one CPU, or a round of it where level 1 is measured in parts: counts by catalog event to pipeline slots
// by category, in the order of level1.categories. The vendor's shares are scaled to add up to 1; a slightly negative
// share stays negative. False where there is no such split (a formula divides by zero, or the shares do not add up to
// anything); outputs are untouched then. No pipeline slots: true, all 0. `values` is room for the values of the
// catalog's metrics: those that level 1 needs are written.
bool level1_split(const struct catalog *catalog, const double *counts, double *values, double *categories,
                  double *pipeline_slots);

// Turns signed slots into an increase of counters, which only grow. A category whose sum with what is owed is negative
// increases by nothing and owes the rest, the others together give up as much, so that the increase adds up to the sum
// of `signed_slots`. Nothing is clipped, so no bias builds up under noise. Only a debt of more than LEVEL1_DEBT_MAX
// times the slots of the busiest recent call is forgiven, lest a category that was negative for long be missing for
// long: a quiet call forgives nothing of what a busy one owes, unless LEVEL1_MEMORY calls and more have been quiet.
void level1_increase(const double *signed_slots, size_t n, struct level1_debt *debt, double *increase);

#endif
