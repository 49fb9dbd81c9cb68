// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_CELLS_H
#define TOPDOWND_CORE_COUNTS_CELLS_H

// The counts of a round's windows: for each CPU a row of values, and for each CPU and unit a cell with their quality.
// Values are sums over the round's windows, scaled for contention but not extrapolated; a unit without data has 0 CPU
// seconds.

#include <stdint.h>

#include "core/base/span.h"
#include "core/counts/rows.h"
#include "core/counts/uncovered.h"

// One unit on one CPU.
struct cell {
    double running_seconds; // on the counters: less than the CPU seconds under contention; for a composite, those of
                            // its average part
    uint32_t n_windows;     // with data; a composite counts as one
    uint8_t trouble;        // enum uncovered: why there was no data
    struct span span;       // kept from round to round: the time that the data represents
};

struct cells {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    struct cell *cells; // [cpu][unit]
    double *values;     // [cpu][value of a row]
    bool *offline;      // [cpu]
};

// `rows` must outlive it. NULL if out of memory.
struct cells *cells_new(const struct rows *rows, size_t n_cpus);
struct cells *cells_free(struct cells *cells);

// Forgets the previous round: no values, no windows, no CPU offline. A unit without a window in a round has failed.
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

// Note a window with data: its running seconds; and its n values.
void cells_note_window(struct cells *cells, size_t cpu, size_t unit, double running_seconds);
void cells_add_values(struct cells *cells, size_t cpu, size_t unit, const double *values);

#endif
