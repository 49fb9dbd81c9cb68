// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_LEVEL1_H
#define TOPDOWND_CORE_LEVEL1_H

// Pipeline slots by level-1 category, so that the categories add up to all pipeline slots.

#include <stdbool.h>

#include "core/catalog.h"

// Calls' worth of slots that may be owed: so many that a quiet call after a busy one forgives nothing.
enum { LEVEL1_DEBT_MAX = 100 };

// One window of one CPU: counts by catalog event to pipeline slots by category, in the order of level1.categories. The
// vendor's shares are scaled to add up to 1; a slightly negative share stays negative. False where there is no such
// split (a formula divides by zero, or the shares do not add up to anything); outputs are untouched then. No pipeline
// slots: true, all 0.
bool level1_split(const struct catalog *catalog, const double *counts, double *categories, double *pipeline_slots);

// Turns signed slots into an increase of counters, which only grow. `owed` holds what earlier calls withheld (it adds
// up to 0): a category whose sum with it is negative increases by nothing and owes the rest, the others together give
// up as much, so that the increase adds up to the sum of `signed_slots`. Nothing is clipped, so no bias builds up under
// noise; only a debt of more than the slots of LEVEL1_DEBT_MAX such calls is forgiven, lest a category that was
// negative for long be missing for long.
void level1_increase(const double *signed_slots, size_t n, double *owed, double *increase);

#endif
