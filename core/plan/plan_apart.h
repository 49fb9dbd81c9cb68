// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_APART_H
#define TOPDOWND_CORE_PLAN_PLAN_APART_H

// Sets of events that must not be packed with others (PLAN_FINDING_APART).

#include "core/plan/plan_pack.h"

// bins[0 .. first - 1] are packed, into n_bins bins. Gives each set from `first` on a bin of its own, from n_bins on; a
// set that another one contains goes along with that.
void plan_apart(const struct plan_set *sets, size_t first, size_t n, unsigned n_bins, unsigned *bins);

#endif
