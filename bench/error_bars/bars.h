// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ERROR_BARS_BARS_H
#define TOPDOWND_BENCH_ERROR_BARS_BARS_H

// A cell of the matrix: the intervals of one class of metrics in one kind of scope, over all runs of a load. Those that
// say that too little was seen to know (poor, with that reason) are no claim: they are counted, and not judged.

#include "bench/error_bars/host.h"

struct bars_cell {
    double *errors, *halves; // of all intervals that are judged, those that are poor for another reason too
    size_t n, capacity;
    size_t n_runs, n_values, n_absent, n_unknown, n_poor;
    size_t n_unknown_inside; // of n_unknown, those that hold the truth
    double inside, inside2;  // over runs, sums of the share of intervals that hold the truth, and of its square
};

struct bars_summary {
    double inside, error; // the share of intervals that hold the truth, and its standard error; runs are independent
    double half, wanted;  // mean half width; that of intervals all alike, of which 95 % would hold the truth
    double absent, unknown, poor; // shares of values
    double unknown_inside;        // the share of all values which are unknown and hold the truth
};

void bars_free(struct bars_cell *cell);

// Takes in the items [scope][metric] of one run that belong to the cell.
void bars_take(struct bars_cell *cell, const struct host *host, enum host_scope scope, enum host_class of,
               const struct host_item *items);

// May reorder what the cell has.
struct bars_summary bars_summary(struct bars_cell *cell);

// No more than two standard errors outside of 93 to 98 %, and no wider than 1.3 times what would hold 95 %.
bool bars_is_too_narrow(const struct bars_summary *summary);
bool bars_is_too_sure(const struct bars_summary *summary); // more than 98 %
bool bars_is_too_wide(const struct bars_summary *summary);

// Most of its values have no interval, or one that says that too little was seen to know.
bool bars_says_unknown(const struct bars_summary *summary);

// So narrow that nobody has a use for less: half of the mean width is at most 0.05 points of a share, or 0.2 % of
// another value. A simulated load without noise has errors that no instrument would see, so such a cell may be too
// wide, or hold the truth too often, and be right. It may not be too narrow.
bool bars_is_narrow_enough(const struct bars_summary *summary, enum host_class of);

#endif
