// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_EXPECTED_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_EXPECTED_H

// How far off gauges will be, told from the plan alone, before anything is counted.
//
// It takes an assumption on the load: a metric differs from slot to slot with a relative standard deviation, which the
// caller chooses, and each core does so by itself. Then a round's error is that of a sample without replacement
// (Cochran, "Sampling Techniques", section 2.6): deviation x sqrt((1 - share of time seen) / windows), where the
// windows of all cores and rounds add up. Several cores are never said to be better than the resolution that their
// intervals have (estimate.h). docs/estimation.md compares it with what was measured.

#include <stddef.h>

#include "core/plan/plan.h"

struct estimate_expected {
    double seen;    // share of the time that the unit's events count; 1: all of it
    double windows; // of each core in a round
    double idle;    // share of the time that no event group sees
    double pieces;  // of that, in a round
    double rounds_a_minute;
};

// Of a unit of the plan, or with unit < 0 of a metric that is made of others: as bad as the worst unit.
struct estimate_expected estimate_expected_of(const struct plan *plan, int unit);

// The relative error that 95 % of the gauges over so many rounds of so many cores do not exceed.
double estimate_expected_error(const struct estimate_expected *expected, size_t n_cores, double rounds,
                               double deviation);

#endif
