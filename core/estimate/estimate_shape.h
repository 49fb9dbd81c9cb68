// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SHAPE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SHAPE_H

// How much what happens in an idle piece differs from the rest, by the windows of the unit that every slot measures.
//
// Windows are slots, and pieces are shorter. If a load has no memory, the variance of what happens in a time is
// proportional to that time. Two kinds of loads are different, and the differences between windows tell them:
//
// - Bursts shorter than a slot: the variance of a time L is a + b L, where a is what the burst at its edges makes.
//   Windows next to each other share an edge, so half of their squared difference is on average larger by a / 2 than of
//   windows with another one in between, unless a piece lies there. So a follows from both, and from it the variance in
//   a piece, which is at most that in a slot.
// - Changes that are rarer than windows: windows with one in between differ more than neighbours do. Pieces are spread
//   evenly over a round, so most changes show in them as they do in windows.
//
// What rounds differ in this tells the standard error of the difference; the less favourable side counts. All events of
// the unit that are no fields, and all CPUs, tell together: a load is of one kind on a host, and one CPU has too few
// windows.
//
// Cores may do the same at the same times. How much the sum of a scope's CPUs differs between windows shows that
// (struct cell_contrast), whatever it is that they do. So it tells how far off other units may be in a piece, too, of
// which no window says what they do in less than a round.
//
// Without such a unit nothing tells of a load that all cores repeat within about a piece: what happens in one is taken
// to differ from the rest by a fifth (ESTIMATE_PIECE_RELATIVE). With one, what is left is a load whose period divides
// the slot, so that windows are alike.

#include "core/counts/cells.h"
#include "core/counts/scopes.h"

struct estimate_shape {
    const struct rows *rows; // borrowed, like the next one
    const struct scopes *scopes;
    size_t n_shared; // scopes with several CPUs
    double memory_rounds;
    double slots_each;            // length of a slot by that of a piece; 0: no unit or no piece
    double slow;                  // the ratio of a load that changes rarely
    double apart;                 // share of neighbours without a piece between them
    bool asleep;                  // in the last round all cores were held
    double rounds, weights2;      // as in struct estimate_spread
    double near, excess, excess2; // means over rounds: of neighbours' squared differences, relative; of how much larger
                                  // these are than others'; of the square of that
    double ratio;                 // the variance in a piece, by that of a load without memory whose neighbours differ
                                  // as much; 1: unknown
    bool *within;                 // [metric of the plan]: every slot measures it
    double *moves;                // [shared scope]: mean relative variance of the sum of its CPUs in a window
    double *rates, *sums;         // [event of the unit]: for one scope at a time
};

// They must outlive it. NULL if out of memory.
struct estimate_shape *estimate_shape_new(const struct rows *rows, const struct scopes *scopes, double memory_rounds);
struct estimate_shape *estimate_shape_free(struct estimate_shape *shape);

// Takes in the fresh rounds.
void estimate_shape_take_round(struct estimate_shape *shape, const struct cells *cells);

// True for a metric that every slot measures, whose rounds have been compared within.
static inline bool estimate_shape_knows(const struct estimate_shape *shape, size_t metric) {
    return shape->within[metric] && shape->rounds > 0;
}

// The factor of the variance of a metric that every slot measures; 1 for others.
static inline double estimate_shape_ratio(const struct estimate_shape *shape, size_t metric) {
    return shape->within[metric] ? shape->ratio : 1;
}

// By how much a metric of a shared scope may differ in a piece beyond what its own differences tell, relative.
double estimate_shape_piece(const struct estimate_shape *shape, size_t scope, size_t metric);

#endif
