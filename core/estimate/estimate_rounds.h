// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_ROUNDS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_ROUNDS_H

// Two successive rounds of each CPU, extrapolated: this one, and the last one with data before it. CPUs are in blocks
// of LANES, one in each lane; lanes without a CPU have no data.

#include "core/base/lanes.h"
#include "core/counts/cells.h"

// One unit on a block of CPUs.
struct estimate_cell {
    struct lanes share;        // covered share of this round's time; 0: no data
    struct lanes share_before; // of the previous round; 0: no such round
    struct lanes slept;        // above 0: the seconds of its windows, extrapolated, which are longer than a slot, so
                               // the core slept in them
    struct lanes asleep;       // the part of its counts that is of sleep (estimate_unseen.h)
    struct lanes rounding;     // standard error of one field's count
    struct lanes covered;      // mean share of both rounds; -1: there are not both
    struct lanes uncovered;    // square root of the rest; 0: there are not both
    struct lanes unfitted;     // of the batch at hand: how much larger residuals would be of a mean without the round
};
enum { ESTIMATE_CELL_LANES = sizeof(struct estimate_cell) / sizeof(struct lanes) };

struct estimate_rounds {
    const struct rows *rows; // borrowed
    size_t n_cpus, n_blocks;
    bool *has_fields;            // [unit]
    struct estimate_cell *cells; // [unit][block]
    struct lanes *now, *before;  // [unit][block][value of the unit]: sums over many blocks find a unit's close together
    struct lanes *awake;         // [block]: seconds of the round's windows in which the core did not sleep
    struct lanes *held;          // [block]: the part of a round's windows that the core did not have, as it was held
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_rounds *estimate_rounds_new(const struct rows *rows, size_t n_cpus);
struct estimate_rounds *estimate_rounds_free(struct estimate_rounds *rounds);

// Takes each fresh round of `cells`, extrapolated to `seconds`; the one before becomes the previous one, where it has
// data.
void estimate_rounds_take(struct estimate_rounds *rounds, const struct cells *cells, double seconds);
// Forgets the unit's rounds so far on this CPU.
void estimate_rounds_forget(struct estimate_rounds *rounds, size_t cpu, size_t unit);

static inline struct estimate_cell *estimate_rounds_cell(const struct estimate_rounds *rounds, size_t block,
                                                         size_t unit) {
    return &rounds->cells[unit * rounds->n_blocks + block];
}
// A unit's values, CPU seconds first; those of the next block follow.
static inline size_t estimate_rounds_first(const struct estimate_rounds *rounds, size_t block, size_t unit) {
    return rows_first(rounds->rows, unit) * rounds->n_blocks + block * rows_n(rounds->rows, unit);
}
static inline struct lanes *estimate_rounds_now(const struct estimate_rounds *rounds, size_t block, size_t unit) {
    return rounds->now + estimate_rounds_first(rounds, block, unit);
}
static inline struct lanes *estimate_rounds_before(const struct estimate_rounds *rounds, size_t block, size_t unit) {
    return rounds->before + estimate_rounds_first(rounds, block, unit);
}

#endif
