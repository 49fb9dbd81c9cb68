// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SLOPE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SLOPE_H

#include "core/formula/formula.h"

// A formula's derivatives: by each of formula->variables, then by each of formula->metrics, into `slopes`. Central
// differences of a ten-thousandth; at a kink (min, max) the mean of both sides, where one side has no value the other
// one's. By what is 0 it is 0: a count that never happened does not vary. Returns the formula's value; where that is
// NaN, `slopes` are 0. `events` and `metrics` are as they were on return.
double estimate_slopes(const struct formula *formula, double *events, double *metrics, double *slopes);

#endif
