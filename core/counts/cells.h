// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_CELLS_H
#define TOPDOWND_CORE_COUNTS_CELLS_H

// The counts of the windows of each CPU's last round: for each CPU a row of values, and for each CPU and unit a cell
// with their quality. Values are sums over the round's windows, scaled for contention but not extrapolated; a unit
// without data has 0 CPU seconds.

#include <stdint.h>

#include "core/base/span.h"
#include "core/counts/neighbours.h"
#include "core/counts/shared_events.h"
#include "core/counts/uncovered.h"

enum { CELL_PAIRED, CELL_SINGLE, CELL_SIGNS };

// One unit on one CPU.
struct cell {
    double running_seconds; // on the counters: less than the CPU seconds under contention; for a composite, those of
                            // its average part
    uint32_t n_windows;     // with data; a composite counts as one
    bool broken;            // one of several event groups that count at once had no data: nor has the unit
    uint8_t trouble;        // enum uncovered: why there was no data; kept while troubled
    double signed_seconds[CELL_SIGNS]; // of its windows, with the signs of struct cell_signs
    // kept from round to round
    bool troubled;    // the last window had no data
    struct span span; // the time that the data represents
};

// How a CPU's counts stand for its round.
//
// Usually a unit's windows are a known share of the round's time, and counts are extrapolated from their own time to
// the round's. A core that slept was held on event groups, so that time on a group says nothing. It was on a unit's
// groups with the probability of the schedule at any time, and counts are divided by that (Horvitz and Thompson 1952),
// those of a unit that had no window yet as well: they are 0.
struct cell_time {
    double seconds;          // that the round represents; 0: none has ended
    double standing_seconds; // the same for units that count all the time, which may be read more often
    bool fresh;              // the round has ended since estimates were last made
    bool held;               // the core was held
    uint64_t end_ns;         // when the round ended; 0: unknown
    double idle_share;       // if held: the share of its busy time in which nothing was counted
};

// Differences between neighbouring windows of the unit that every slot measures, on one CPU. A round's first two slots
// are a pair, and so on; each pair has a random sign. The sum over a round's pairs tells how much the load varies
// within the round, whatever it does from round to round: its square is expected to be the variance of the sum of as
// many windows, if windows are independent.
//
// Pairs and signs follow from when the round ended and from the slots of it, which all CPUs of a cohort have in common
// whatever happened to each before: if they do the same, so do their contrasts, and the sum's error is not one of CPUs
// that do what they like.
struct cell_contrast {
    uint32_t n_pairs; // in the round
    uint32_t slot;    // of the round, in which the next window begins
    uint32_t counted; // slots of windows with data
    bool waits;       // the last window waits for its neighbour
    uint64_t pairs;   // which of the round's first 64 it has, by bit
    uint64_t signs;   // what they are drawn by: when the round ended
};

// Signs of the slots of a round, by chance. What units count of an event that they share, with these signs, tells how
// much cores do at once that changes from slot to slot. CELL_PAIRED: slots are in pairs of neighbours, of which one is
// added and one taken off, so that slow changes add little. CELL_SINGLE: each slot has a sign of its own. All CPUs of a
// cohort have the same signs at the same time, as above.
struct cell_signs {
    uint64_t seed; // when the round ended
    uint32_t slot; // of the round, in which the next window begins
};

struct cells {
    const struct rows *rows; // borrowed
    struct shared_events *shared;
    size_t n_cpus;
    struct cell *cells;      // [cpu][unit]
    double *values;          // [cpu][value of a row]
    bool *offline;           // [cpu]
    struct cell_time *times; // [cpu]
    // only of the unit that every slot measures, if there is one
    struct cell_contrast *contrasts;     // [cpu]
    double *contrast_sums, *last_window; // [cpu][value of the unit]
    struct neighbours *neighbours;
    struct cell_signs *signs; // [cpu]
    double *signed_counts;    // [cpu][counter of a shared event][CELL_SIGNS]
};

// `rows` must outlive it. NULL if out of memory.
struct cells *cells_new(const struct rows *rows, size_t n_cpus);
struct cells *cells_free(struct cells *cells);

// Forgets a CPU's previous round: no values, no windows, not offline. A unit without a window in a round has failed;
// one whose last window had no data has its trouble until it counts again.
void cells_begin_round(struct cells *cells, size_t cpu);

// The same for the CPU's contrast: of the round that ended at end_ns.
void cells_begin_contrast(struct cells *cells, size_t cpu, uint64_t end_ns);

// The same for what counts all the time, where the CPU's round goes on.
void cells_begin_standing(struct cells *cells, size_t cpu);

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

// Ends a CPU's round of `seconds` in which the core was not held.
static inline void cells_end_round(struct cells *cells, size_t cpu, double seconds) {
    double standing_seconds = cells->times[cpu].standing_seconds;
    cells->times[cpu] = (struct cell_time){.seconds = seconds, .standing_seconds = standing_seconds, .fresh = true};
}

// The time that a unit's counts on a CPU stand for; 0: none yet.
static inline double cells_seconds(const struct cells *cells, size_t cpu, size_t unit) {
    const struct cell_time *time = &cells->times[cpu];
    return plan_unit_stands(cells->rows->plan, (unsigned)unit) ? time->standing_seconds : time->seconds;
}

// Note a window with data: its running seconds; and its n values.
void cells_note_window(struct cells *cells, size_t cpu, size_t unit, double running_seconds);
void cells_add_values(struct cells *cells, size_t cpu, size_t unit, const double *values);
// Takes a window of the unit that every slot measures in for its contrast, which lasted so many seconds. One that is
// not as long as its neighbour, or had no data (NULL), is in no pair.
void cells_take_contrast(struct cells *cells, size_t cpu, double seconds, const double *values);
// Takes a window of a unit that takes turns with others in with the signs of its slots, which lasted so many seconds.
// NULL: it had no data.
void cells_sign_window(struct cells *cells, size_t cpu, size_t unit, double seconds, const double *values);
// Forgets the unit's values of the round, and those that are still to come.
void cells_break(struct cells *cells, size_t cpu, size_t unit);

// True if the unit counted by the schedule of a core that was held. What counts all the time is never held.
static inline bool cells_held(const struct cells *cells, size_t cpu, size_t unit) {
    return cells->times[cpu].held && !plan_unit_stands(cells->rows->plan, (unsigned)unit);
}

// True if the unit's counts stand for something: it had windows with data, or it is known why it had none.
static inline bool cells_data(const struct cells *cells, size_t cpu, size_t unit) {
    return cells_values(cells, cpu, unit)[0] > 0 ||
           (cells_held(cells, cpu, unit) && !cells_at(cells, cpu, unit)->troubled);
}

// The factor from a unit's counts to those of `seconds`, if it has data. The probability of a unit is that of its slots
// among all slots of a round.
double cells_factor(const struct cells *cells, size_t cpu, size_t unit, double seconds);

// The contrast of a round of a core that was not held, as if all of the round's windows were in pairs: `unit` is the
// one that every slot measures, else there is none. NULL: none; else the values by which it must be multiplied.
const double *cells_contrast(const struct cells *cells, size_t cpu, size_t unit, double *factor);

// The share of time in which the unit counted, for error bars: measured, or that of the schedule.
double cells_share(const struct cells *cells, size_t cpu, size_t unit);

#endif
