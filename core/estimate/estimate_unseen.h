// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_UNSEEN_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_UNSEEN_H

// What a unit's windows have missed, told by what other units have seen.
//
// Windows that were all alike have no spread, though they may all have missed what mattered: a thread that was there
// for a second, seen by others. Units have events in common (cycles, instructions), so together they know far better
// than one of them how often such an event happened. Where a unit's own count is smaller than that by more than its own
// standard error (in a single round by more than two), its windows do not stand for the round, and the share that it is
// short of is unseen. What it has seen often enough to vary falls under its own error, and nothing is added.

#include "core/estimate/estimate_scope.h"
#include "core/estimate/estimate_spread.h"

// Who counts the event that tells a unit's size.
struct estimate_same {
    size_t unit, place; // within a row
};

// What is known of a unit's size in a scope.
struct estimate_size {
    double rounds, weights2, differences; // as in struct estimate_spread; the last: rounds there was a difference in
    double own, all;                      // means of the unit's count, and of what all that count the event make of it
    double variance;                      // of a round's own count
};

struct estimate_sizes {
    const struct rows *rows; // borrowed
    size_t n_scopes, n_cpus;
    struct estimate_same *same;     // unit by unit, each unit itself first
    size_t *first_same;             // [unit]: of these; one more for the end
    struct estimate_size *sizes;    // [scope][unit]
    double *all;                    // [cpu][unit]: this round's count that tells its size, by all that count it
    struct estimate_unseen *unseen; // [unit] of the scope that was taken in last
};

// `rows` must outlive it. NULL where memory is short.
struct estimate_sizes *estimate_sizes_new(const struct rows *rows, size_t n_scopes, size_t n_cpus);
struct estimate_sizes *estimate_sizes_free(struct estimate_sizes *sizes);

// A round on every CPU; then, scope by scope, what its windows have missed.
void estimate_sizes_take_round(struct estimate_sizes *sizes, const struct estimate_rounds *rounds);
void estimate_sizes_take_scope(struct estimate_sizes *sizes, const struct estimate_scope *of);

static inline struct estimate_unseen estimate_sizes_unseen(const struct estimate_sizes *sizes, size_t unit) {
    return sizes->unseen[unit];
}

#endif
