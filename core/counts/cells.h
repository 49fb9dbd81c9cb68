// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_CELLS_H
#define TOPDOWND_CORE_COUNTS_CELLS_H

// The counts of the windows of each CPU's last round: for each CPU a row of values, and for each CPU and unit a cell
// with their quality. Values are sums over the round's windows, scaled for contention but not extrapolated; a unit
// without data has 0 CPU seconds.

#include <stdint.h>

#include "core/base/span.h"
#include "core/counts/rows.h"
#include "core/counts/uncovered.h"

// One unit on one CPU.
struct cell {
    double held_seconds;    // of the CPU seconds, how long the core was held beyond its slots (struct window)
    double running_seconds; // on the counters, without what was held: less than the other CPU seconds under contention;
                            // for a composite, those of its average part
    uint32_t n_windows;     // with data; a composite counts as one
    uint8_t trouble;        // enum uncovered: why there was no data
    struct span span;       // kept from round to round: the time that the data represents
};

// The time of a CPU's round.
struct cell_time {
    double seconds;           // that the round represents
    double scheduled_seconds; // to which counts are extrapolated from the cell's; the same if nothing was held
    bool fresh;               // the round has ended since estimates were last made
};

// The share of the round for which its counts stand: less than 1 if the core was held.
static inline double cell_time_scheduled_share(const struct cell_time *time) {
    return time->seconds > 0 ? time->scheduled_seconds / time->seconds : 1;
}

struct cells {
    const struct rows *rows; // borrowed
    size_t n_cpus;
    struct cell *cells;      // [cpu][unit]
    double *values;          // [cpu][value of a row]
    bool *offline;           // [cpu]
    struct cell_time *times; // [cpu]
};

// `rows` must outlive it. NULL if out of memory.
struct cells *cells_new(const struct rows *rows, size_t n_cpus);
struct cells *cells_free(struct cells *cells);

// Forgets a CPU's previous round: no values, no windows, not offline. A unit without a window in a round has failed.
void cells_begin_round(struct cells *cells, size_t cpu);

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

// Ends a CPU's round of `seconds` in which nothing was held.
static inline void cells_end_round(struct cells *cells, size_t cpu, double seconds) {
    cells->times[cpu] = (struct cell_time){.seconds = seconds, .scheduled_seconds = seconds, .fresh = true};
}

// Note a window with data: its times; and its n values.
void cells_note_window(struct cells *cells, size_t cpu, size_t unit, double held_seconds, double running_seconds);
void cells_add_values(struct cells *cells, size_t cpu, size_t unit, const double *values);

// The time for which a unit's counts stand: its CPU seconds without what was held.
static inline double cells_scheduled_seconds(const struct cells *cells, size_t cpu, size_t unit) {
    return cells_values(cells, cpu, unit)[0] - cells_at(cells, cpu, unit)->held_seconds;
}

#endif
