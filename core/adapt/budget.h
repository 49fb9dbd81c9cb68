// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_BUDGET_H
#define TOPDOWND_CORE_ADAPT_BUDGET_H

// What measuring may cost, and what to do when it costs more: longer slots, fewer rotations.
//
// Cost is CPU time: our own, and what interrupts take from other CPUs. It is judged over BUDGET_PERIOD_SECONDS. Slots
// shrink back only when the shorter ones would still leave room, so that the length does not swing.

#include <stdbool.h>
#include <stddef.h>

enum { BUDGET_PERIOD_SECONDS = 30 };
#define BUDGET_STEP 1.5        // slots grow and shrink by this factor
#define BUDGET_FACTOR_MAX 32.0 // and to no more than this many times their configured length

struct budget {
    double allowed;       // CPU seconds a second
    double begun_seconds; // of this period
    double cost_seconds;  // at its beginning
    double used;          // share of the budget in the last whole period; NAN before the first
    double factor;        // by which slots are longer than configured
};

// The larger of 0.01 % of the machine and 0.1 % of one CPU.
void budget_init(struct budget *budget, size_t n_cpus, double now_seconds, double cost_seconds);

// Takes the total cost so far. Returns true where `factor` has just changed.
bool budget_update(struct budget *budget, double now_seconds, double cost_seconds);

#endif
