// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_UNSEEN_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_UNSEEN_H

// Estimates what a unit's windows have missed from what other units have seen.
//
// Windows that were all alike have no spread, yet they may all have missed something important, such as a thread that
// ran for a second in other units' windows. Units share events (cycles, instructions), so together they know far better
// than one unit how often such an event happened. If a unit's own count is smaller by more than its own standard error
// (in a single round by more than two), its windows do not represent the round, and the missing share is unseen.
// Something that the unit has seen often enough to vary is within its own error and adds nothing.
//
// What was seen may itself rest on few windows: on those that met the load if it is rare, and on a held core, which is
// on few groups in a minute. Their effective number k is the squared sum of their counts by the sum of squared counts
// (Kish, "Survey Sampling", 1965, section 8.2). A window that reaches from one round of a held core into the next is
// one. k values have k - 1 degrees of freedom about their mean. One says nothing of the others, nor do two of a core
// that was held; there, k counts as many more as the windows leave less time unseen.
//
// Windows of a held core are of two strata (estimate_strata.h). How far off the share of counts is that a unit has from
// one of them follows from its own windows, from all units', and from the time in which the CPU was awake. A core that
// wakes is found awake when the slot ends, so a long window may hold the beginning of that. In a round in which the
// core was awake, what a long window counts is of sleep only as far as sleep counts as much in its time.
//
// A ratio is fitted to the rounds that carry it, so their residuals are too small by the part h that they make of the
// mean, their leverage: without the round itself the residual would be 1 / (1 - h) as large (MacKinnon and White, 1985,
// the jackknife). Only the difference in counts has leverage in a difference of residuals: rounds of equal size cancel.

#include "core/estimate/estimate_batch.h"
#include "core/estimate/estimate_spread.h"
#include "core/estimate/estimate_strata.h"

// A unit that counts the event that measures another unit's size.
struct estimate_same {
    size_t unit, place; // place: among its values
};

// A unit's size in the scopes of a batch.
struct estimate_size {
    struct lanes rounds, weights2, differences; // as in struct estimate_spread; differences: rounds with a difference
    struct lanes own, all;                      // means of the unit's count, and of the estimate from all units that
                                                // count the event
    struct lanes variance;                      // variance of a round's own count
    struct lanes held_rounds;                   // as rounds, but those of single CPUs begin when the core is held
    struct lanes held_own;                      // mean of the unit's count in these, as the next three
    struct lanes own_asleep, all_asleep;        // the parts of own and all while cores slept
    struct lanes awake;                         // seconds in which the CPU was awake; of single CPUs
    struct lanes squares, square_weights;       // mean sum of the windows' squared counts; as weights2, of the means
};

struct estimate_sizes {
    const struct rows *rows; // borrowed
    size_t n_batches, n_blocks;
    struct estimate_same *same;     // unit by unit, each unit itself first
    size_t *first_same;             // [unit]: its first in `same`; one more for the end
    struct estimate_size *sizes;    // [batch][unit]
    struct lanes *all;              // [block of CPUs][unit]: this round's count that measures its size, from all units
                                    // that count it
    struct lanes *asleep;           // likewise: the part of it while the core slept
    struct estimate_unseen *unseen; // [unit] of the batch taken in last
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_sizes *estimate_sizes_new(const struct rows *rows, size_t n_batches, size_t n_blocks);
struct estimate_sizes *estimate_sizes_free(struct estimate_sizes *sizes);

// Forgets all rounds of the batches from `first` on.
void estimate_sizes_forget(struct estimate_sizes *sizes, size_t first);

// Takes in a round on every CPU; then, batch by batch, finds what its windows have missed.
void estimate_sizes_take_round(struct estimate_sizes *sizes, const struct estimate_rounds *rounds,
                               const struct estimate_strata *strata);
void estimate_sizes_take_batch(struct estimate_sizes *sizes, const struct estimate_batch *batch,
                               const struct estimate_strata *strata);

static inline struct estimate_size *estimate_sizes_row(const struct estimate_sizes *sizes, size_t batch) {
    return &sizes->sizes[batch * sizes->rows->n_units];
}

static inline const struct estimate_unseen *estimate_sizes_unseen(const struct estimate_sizes *sizes, size_t unit) {
    return &sizes->unseen[unit];
}

#endif
