// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SLOPE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SLOPE_H

#include "core/formula/formula.h"

// Writes a formula's derivatives in all lanes to `slopes`: by each of formula->variables, then by each of
// formula->metrics. They are central differences with a relative step of 1/10000; at a kink (min, max) the mean of both
// sides; if one side has no value, the other side's. The derivative by a variable that is 0 is 0: an event that never
// happened does not vary. Returns the formula's value; if that is NaN, `slopes` are 0. `events` and `metrics` are
// unchanged on return.
struct lanes estimate_slopes(const struct formula *formula, struct lanes *events, struct lanes *metrics,
                             struct lanes *slopes);

#endif
