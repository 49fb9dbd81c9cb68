// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_BUDGET_H
#define TOPDOWND_CORE_ADAPT_BUDGET_H

// Limits the cost of measuring: when it exceeds the budget, slots get longer, so that rotations get fewer.
//
// Cost is CPU time: topdownd's own, and the time of its interrupts on other CPUs. It is averaged over
// BUDGET_PERIOD_SECONDS. Slots shrink only if the shorter ones would still leave room, so that the length does not
// oscillate.

#include <stdbool.h>
#include <stddef.h>

enum { BUDGET_PERIOD_SECONDS = 30 };
#define BUDGET_STEP 1.5        // slots grow and shrink by this factor
#define BUDGET_FACTOR_MAX 32.0 // up to this many times their configured length

struct budget {
    double allowed;       // CPU seconds a second
    double begun_seconds; // start of this period
    double cost_seconds;  // at its beginning
    double used;          // share of the budget in the last whole period; NAN before the first
    double factor;        // slot length relative to the configured one
};

// The larger of 0.01 % of the machine and 0.1 % of one CPU.
void budget_init(struct budget *budget, size_t n_cpus, double now_seconds, double cost_seconds);

// Takes the total cost so far. Returns true if `factor` has just changed.
bool budget_update(struct budget *budget, double now_seconds, double cost_seconds);

#endif
