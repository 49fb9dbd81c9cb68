// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_BUDGET_H
#define TOPDOWND_CORE_ADAPT_BUDGET_H

// Limits the cost of measuring, which is CPU time: topdownd's own, and the time of its interrupts on other CPUs.
//
// What comes back with every round, rotation, is averaged over BUDGET_PERIOD_SECONDS. If it exceeds its share, slots
// get longer, so that rotations get fewer. They shrink only if shorter ones would still leave room, so that the length
// does not oscillate.
//
// What comes once, a change (probing for counters, making another plan, opening and closing event groups), does not
// move the length of slots. It is a debt, which what rotation leaves of the budget pays off. Changes that can wait wait
// until the debt is paid; a probe for counters does not wait for long, because probes get rarer by themselves
// (core/adapt/backoff.h). The first plan is the start's, as loading is, and no debt.

#include <stdbool.h>
#include <stddef.h>

enum { BUDGET_PERIOD_SECONDS = 30 };
#define BUDGET_ROTATION 0.9    // rotation's share: the rest pays for changes
#define BUDGET_STEP 1.5        // slots grow and shrink by this factor
#define BUDGET_FACTOR_MAX 32.0 // up to this many times their configured length

struct budget_cost {
    double rotation_seconds, change_seconds; // so far
};

struct budget {
    double allowed;       // CPU seconds a second
    double begun_seconds; // start of this period
    struct budget_cost begun;
    double used;         // share of the budget in the last whole period; NAN before the first
    double rotation;     // of which rotation; before the first period all that it may
    double debt_seconds; // of changes, at the start of this period
    double factor;       // slot length relative to the configured one
};

// How often a kind of boxes (core/uncore/uncore.h) is read. What that costs comes back with every reading, and no slot
// is there to be longer. So all kinds together get a part of the budget, and one that exceeds its share is read more
// rarely. Nothing is lost: boxes count on meanwhile.
#define BUDGET_BOXES 0.5 // of the budget: the rest is the cores'
struct budget_boxes {
    double factor; // interval between readings relative to the configured one
    double used;   // share of the budget that reading took in the last whole period
    double begun_seconds, begun_cost;
};
enum { BUDGET_BOXES_STEP = 2, BUDGET_BOXES_FACTOR_MAX = 16 };

void budget_boxes_init(struct budget_boxes *boxes, double now_seconds);

// Takes what reading this kind, one of so many, has cost so far in CPU seconds. Returns true if `factor` has just
// changed.
bool budget_boxes_update(struct budget_boxes *boxes, const struct budget *budget, double now_seconds, double cost,
                         size_t n_kinds);

// CPU seconds a second: the larger of 0.01 % of the machine and 0.1 % of one CPU.
double budget_allowed(size_t n_cpus);
void budget_init(struct budget *budget, size_t n_cpus, double now_seconds, struct budget_cost cost);

// Takes the total cost so far. Returns true if `factor` has just changed.
bool budget_update(struct budget *budget, double now_seconds, struct budget_cost cost);

// CPU time of changes that is not yet paid.
double budget_debt(const struct budget *budget, double now_seconds, struct budget_cost cost);

#endif
