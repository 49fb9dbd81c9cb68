// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_DITHER_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_DITHER_H

// How much of the rounding of a field stays, however many windows there are.
//
// A field of PERF_METRICS is a share in 255ths. A constant load is rounded the same in every window: an error of up to
// half a step, which no number of windows makes smaller. A load that varies by a step or more from window to window is
// rounded differently each time, and the errors average out. Neighbouring windows tell (core/counts/neighbours.h): let
// E be the share of pairs that read the same, and q how many pairs differ by a step for each of these. What is always
// the same has E = 1 and q = 0. Values that vary normally about any mean have q from 0 (a deviation below a tenth of a
// step) to 1 (half a step) and 2 (many steps), and the variance of their mean rounding error is E (1 - q)^1.5 of a
// uniform one's, or less, and nothing from q = 1 on. Loads that change between constant states read the same in most
// pairs, so they keep E of it.

#include "core/base/lanes.h"
#include "core/counts/cells.h"

struct estimate_dither {
    const struct rows *rows; // borrowed
    size_t n_cpus, n_blocks, n_events;
    double memory_rounds;
    struct lanes *equal, *adjacent, *pairs; // [event of the common unit][block of CPUs]: sums over rounds, which fade
    struct lanes *windows;                  // [block of CPUs]: in the last round, at least 1
    struct lanes *kept; // [event of the common unit][block of CPUs]: how much of the rounding's standard error stays;
                        // 1: all of it
};

// `rows` must outlive it. NULL if out of memory.
struct estimate_dither *estimate_dither_new(const struct rows *rows, size_t n_cpus, double memory_rounds);
struct estimate_dither *estimate_dither_free(struct estimate_dither *dither);

// Takes in the fresh rounds.
void estimate_dither_take_round(struct estimate_dither *dither, const struct cells *cells);

// True for the unit whose windows tell. Of all others', all of the rounding stays.
static inline bool estimate_dither_knows(const struct estimate_dither *dither, size_t unit) {
    return dither->rows->plan->common_unit == (int)unit;
}

// By a place among the unit's values, for a block of CPUs.
static inline const struct lanes *estimate_dither_kept(const struct estimate_dither *dither, size_t place,
                                                       size_t block) {
    return &dither->kept[(place - 1) * dither->n_blocks + block];
}

#endif
