// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_WITHIN_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_WITHIN_H

// What the differences between units within rounds (estimate_shared.h) come to.

#include "core/estimate/estimate_spread.h"
#include "core/plan/plan.h"

// A variance, and its degrees of freedom.
struct estimate_freedom {
    double variance, degrees;
};

// That between units in a lane, of the last round or of all.
struct estimate_freedom estimate_within_of(const struct estimate_spread *spread, size_t l, bool one_round);

// The degrees of freedom of the sum of two variances (Satterthwaite 1946).
double estimate_freedom_of(double variance, double degrees, const struct estimate_freedom *other);

// How many times as short an idle piece is as a slot, at least 1.
double estimate_shorter_of(const struct plan *plan);

// The variance of a round by what idle pieces hide of the event that units share, which cores do in step.
double estimate_hidden_of(const struct estimate_together *together, size_t l, double shorter);

#endif
