// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_ROWS_H
#define TOPDOWND_CORE_COUNTS_ROWS_H

// The layout of a row of values: for each unit of a plan, in order, the CPU seconds of its windows, then the counts of
// the unit's events in the unit's order. Level 1 of a PMU that sees the core from one thread has more values at its
// end, which core/counts/core_slots.h makes of these counts: the CPU's part of its core's pipeline slots, by enum
// catalog_core_slots, and standard errors (enum rows_error).
//
// There is a row for each CPU (core/counts/cells.h) and for each scope (core/counts/sums.h).

#include "core/plan/plan.h"

// Standard errors of the front end's and the back end's slots. The first two have one cause, the number of the core's
// slots, so they add up. The third is that of dividing the unused slots between the two: what one has too many, the
// other has too few.
enum rows_error { ROWS_ERROR_FRONTEND, ROWS_ERROR_BACKEND, ROWS_ERROR_SPLIT, ROWS_ERROR_N };

struct rows {
    const struct plan *plan; // borrowed
    size_t n_units;
    size_t n_values; // of a row
    size_t *first;   // [unit]; one more for the end
    int core_unit;   // the unit with a core's pipeline slots; -1: none
};

// `plan` must outlive it. NULL if out of memory.
struct rows *rows_new(const struct plan *plan);
struct rows *rows_free(struct rows *rows);

// Where a unit's values, CPU seconds first, begin in a row.
static inline size_t rows_first(const struct rows *rows, size_t unit) { return rows->first[unit]; }
// The number of a unit's values: its CPU seconds and its counts.
static inline size_t rows_n(const struct rows *rows, size_t unit) { return rows->first[unit + 1] - rows->first[unit]; }

// Where a core's pipeline slots and their errors begin among the values of core_unit.
static inline size_t rows_core_slots(const struct rows *rows) {
    return 1 + rows->plan->units[rows->core_unit].n_events;
}
static inline size_t rows_errors(const struct rows *rows) { return rows_core_slots(rows) + CORE_SLOTS_N; }

// True if the core unit counts what siblings took from one another: logs of others may lack it.
bool rows_count_contention(const struct rows *rows);

// Index of an event's count among a unit's own values; 0, the index of its CPU seconds: the unit does not count it.
size_t rows_place_in_unit(const struct rows *rows, size_t unit, unsigned event);
// The same in the row; 0, the index of the first unit's CPU seconds: the unit does not count it.
size_t rows_place(const struct rows *rows, size_t unit, unsigned event);

#endif
