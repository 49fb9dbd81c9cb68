// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_SIZES_H
#define TOPDOWND_BENCH_ACCURACY_SIZES_H

// What the schedule costs and how close it comes on sockets of 32, 128 and 256 cores with twelve event groups of equal
// weight, under all loads and those that change on all CPUs at once.

#include "bench/accuracy/trial.h"

// Twelve slots, one of them level 1's, with a tenth of the time idle. `request`: a struct plan_request.
struct plan *sizes_plan(const void *request);

// Prints errors and coverage by load, and then the goals and interrupts. `request` selects the metric groups. Returns
// false if a goal is missed that the schedule meets; that of MPKI's intervals counts only if `full`.
bool sizes_check(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads, bool full);

// Prints the mean errors of counts and of level-1 shares over all trials of each load, those of sleeping CPUs included.
// False if one is more than four standard errors and a thousandth off, or a tenth of a point.
bool sizes_check_bias(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads);

// Prints interrupts and errors by length of slots.
void sizes_print_curve(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads);

#endif
