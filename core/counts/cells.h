// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_CELLS_H
#define TOPDOWND_CORE_COUNTS_CELLS_H

// What a round's windows counted: for each CPU a row of values, and for each CPU and unit a cell that says how good
// they are. Values are sums over the round's windows, scaled for contention and not extrapolated; a unit without data
// has 0 CPU seconds.

#include <stdint.h>

#include "core/base/span.h"
#include "core/counts/rows.h"
#include "core/counts/uncovered.h"

// Of a unit on a CPU.
struct cell {
    double running_seconds; // on the counters: less than the CPU seconds under contention; of a composite those of its
                            // average part
    uint32_t n_windows;     // with data; those of a composite are whole ones
    uint8_t trouble;        // enum uncovered: why there was no data
    struct span span;       // kept from round to round: the time that the data stands for
};

struct cells {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    struct cell *cells; // [cpu][unit]
    double *values;     // [cpu][value of a row]
    bool *offline;      // [cpu]
};

// `rows` must outlive it. NULL where memory is short.
struct cells *cells_new(const struct rows *rows, size_t n_cpus);
struct cells *cells_free(struct cells *cells);

// Forgets the round before: no values, no windows, no CPU offline. What has no window in a round has failed.
void cells_begin_round(struct cells *cells);

static inline struct cell *cells_at(const struct cells *cells, size_t cpu, size_t unit) {
    return &cells->cells[cpu * cells->rows->n_units + unit];
}
static inline double *cells_row(const struct cells *cells, size_t cpu) {
    return cells->values + cpu * cells->rows->n_values;
}
// A unit's values: CPU seconds, then counts.
static inline double *cells_values(const struct cells *cells, size_t cpu, size_t unit) {
    return cells_row(cells, cpu) + rows_first(cells->rows, unit);
}

// A window with data: its running seconds; and its values, n of which there are.
void cells_note_window(struct cells *cells, size_t cpu, size_t unit, double running_seconds);
void cells_add_values(struct cells *cells, size_t cpu, size_t unit, const double *values);

#endif
