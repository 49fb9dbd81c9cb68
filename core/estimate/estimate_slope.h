// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SLOPE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SLOPE_H

#include "core/formula/formula.h"

// The same as formula_slopes_lanes.
struct lanes estimate_slopes(const struct formula *formula, const struct lanes *events, const struct lanes *metrics,
                             struct formula_node *nodes, struct lanes *slopes);

#endif
