// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_HELD_H
#define TOPDOWND_BENCH_ACCURACY_HELD_H

// One CPU of eight that sleeps most of the time, so that its core is held on its event groups: a minute has three to
// six windows of a group; and of 16 and 32 CPUs, which a migrating thread visits four times a minute and twice. The
// plan is that of accuracy/sizes.h.

#include "core/plan/plan.h"

// Prints each load's errors and intervals, and checks that intervals contain the truth. False if a goal is missed that
// the full run meets. `full`: as in goals.h.
bool held_check(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads, bool full);

#endif
