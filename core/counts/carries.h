// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_CARRIES_H
#define TOPDOWND_CORE_COUNTS_CARRIES_H

// Makes counters of differences of counts. What such a difference counts cannot fall (cycles less those asleep, reads
// less those that hit), but a window's amount can: its events are not read at the same instant, and contended counts
// are scaled. A negative amount is owed, and what follows pays for it first, so that over time the counter has exactly
// the sum of all amounts. A debt above CARRY_DEBT_MAX times the largest recent amount is forgiven, as for level 1.

#include "core/counts/scopes.h"
#include "core/plan/plan.h"

enum { CARRY_DEBT_MAX = 100, CARRY_MEMORY = 1000 }; // calls after which the largest amount weighs 1/e

// What one counter has withheld; all zero at first.
struct carry {
    double owed; // 0 or negative
    double largest;
};

// Returns by how much the counter grows.
double carry_take(struct carry *carry, double amount);

enum carry_part { CARRY_NUMERATOR, CARRY_DENOMINATOR, CARRY_PARTS };

// Of each CPU, for the plan's metrics whose quotients contain differences.
struct carries {
    size_t n_cpus, n_metrics; // of the plan
    size_t n;                 // of these metrics
    int *place;               // [metric]: among them; -1: a quotient of sums that only grow, or none
    struct carry *carries;    // [cpu][place][part]
};

// NULL if out of memory.
struct carries *carries_new(const struct plan *plan, size_t n_cpus);
struct carries *carries_free(struct carries *carries);

// Takes over a CPU's debts from another plan. `match` gives its metric that is the same as each of this one's; -1:
// none.
void carries_continue(struct carries *carries, size_t cpu, const struct carries *old, size_t old_cpu, const int *match);

// The increase of a metric's counter on a CPU.
double carries_take(struct carries *carries, size_t cpu, size_t metric, enum carry_part part, double amount);

#endif
