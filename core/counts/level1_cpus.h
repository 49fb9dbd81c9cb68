// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_LEVEL1_CPUS_H
#define TOPDOWND_CORE_COUNTS_LEVEL1_CPUS_H

// Level 1 of each CPU: the pipeline slots of its last round's windows by category, and the increase of its counters.

#include "core/base/span.h"
#include "core/counts/cells.h"
#include "core/counts/level1.h"
#include "core/counts/operand_lanes.h"
#include "core/counts/scopes.h"

struct level1_cpu {
    // of the round
    double slots[CATEGORY_N];    // signed, from the windows that could be split
    double contention;           // slots that the sibling got in these windows; 0 where the PMU does not tell
    double seconds;              // of these windows
    double increase[CATEGORY_N]; // of its counters, at the round's end
    double contention_increase;  // likewise
    bool increased;              // then; else there was no data
    // kept
    struct span span;
    struct level1_debt debt;
};

struct level1_cpus {
    const struct rows *rows; // borrowed, like the scopes
    const struct scopes *scopes;
    size_t n_categories;     // in the catalog's level 1
    struct level1_cpu *cpus; // [cpu]
    size_t *next;            // [cpu]: the next one of its core; the number of CPUs: there is none
    size_t *first_of;        // [core]: its first CPU
    double *increase;        // [scope][category]: of the CPUs' last rounds
    // windows are split together, one in each lane
    struct operand_lanes *windows;
    size_t n_windows;     // waiting
    size_t cpu_of[LANES]; // a window's
};

// `rows` and `scopes` must outlive it. NULL if out of memory.
struct level1_cpus *level1_cpus_new(const struct rows *rows, const struct scopes *scopes);
struct level1_cpus *level1_cpus_free(struct level1_cpus *level1);

// Takes over a CPU's debt from another plan of the same catalog.
void level1_cpus_continue(struct level1_cpus *level1, size_t cpu, const struct level1_cpus *old, size_t old_cpu);

void level1_cpus_begin_round(struct level1_cpus *level1, size_t cpu);

// Takes the values of one of the CPU's windows of the level-1 unit. Call level1_cpus_end_windows after the last one.
void level1_cpus_take_window(struct level1_cpus *level1, size_t cpu, const double *values);
void level1_cpus_end_windows(struct level1_cpus *level1);

// Ends the CPU's round; gaps longer than limit_seconds are given up, and a stalled unit has no data. Returns each
// category's increase, or NULL without data.
const double *level1_cpus_advance(struct level1_cpus *level1, const struct cells *cells, size_t cpu,
                                  double limit_seconds, bool stalled);

// Sums the increases of the CPUs' last rounds over each scope, each extrapolated to `seconds`.
void level1_cpus_sum(struct level1_cpus *level1, const struct cells *cells, double seconds);

// The increase of a scope's categories, as last summed.
static inline const double *level1_cpus_increase(const struct level1_cpus *level1, size_t scope) {
    return level1->increase + scope * level1->n_categories;
}

#endif
