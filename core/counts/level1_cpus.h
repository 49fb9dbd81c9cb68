// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_LEVEL1_CPUS_H
#define TOPDOWND_CORE_COUNTS_LEVEL1_CPUS_H

// Level 1 of each CPU: the pipeline slots of a round's windows by category, and by how much its counters increase.

#include "core/base/span.h"
#include "core/counts/evaluation.h"
#include "core/counts/level1.h"
#include "core/counts/scopes.h"

struct level1_cpu {
    // of the round
    double slots[CATEGORY_N]; // signed, of the windows that could be split
    double seconds;           // of these windows
    // kept
    struct span span;
    struct level1_debt debt;
};

struct level1_cpus {
    const struct rows *rows; // borrowed, like the scopes
    const struct scopes *scopes;
    size_t n_categories;       // of the catalog's level 1
    struct level1_cpu *cpus;   // [cpu]
    double *increase;          // [scope][category]: of the round
    struct evaluation *window; // one at a time
};

// `rows` and `scopes` must outlive it. NULL where memory is short.
struct level1_cpus *level1_cpus_new(const struct rows *rows, const struct scopes *scopes);
struct level1_cpus *level1_cpus_free(struct level1_cpus *level1);

// A CPU owes what it owed under another plan of the same catalog.
void level1_cpus_continue(struct level1_cpus *level1, size_t cpu, const struct level1_cpus *old, size_t old_cpu);

void level1_cpus_begin_round(struct level1_cpus *level1);

// The values of one of the CPU's windows of the level-1 unit.
void level1_cpus_take_window(struct level1_cpus *level1, size_t cpu, const double *values);

// Ends the CPU's round of `seconds`; gaps longer than limit_seconds are given up, and what is stalled is no data.
// Returns by how much each category increases, or NULL where there was no data.
const double *level1_cpus_advance(struct level1_cpus *level1, size_t cpu, double seconds, double limit_seconds,
                                  bool stalled);

// What the categories of a scope have increased by in this round.
static inline const double *level1_cpus_increase(const struct level1_cpus *level1, size_t scope) {
    return level1->increase + scope * level1->n_categories;
}

#endif
