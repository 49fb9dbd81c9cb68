// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_COMPARISON_H
#define TOPDOWND_BENCH_ACCURACY_COMPARISON_H

// The adaptive schedule against the fixed one on the same loads and seeds: who gains and who pays.

#include "bench/accuracy/trial.h"

// Whose errors: level 1, what the bottleneck's tree leads to (metrics of groups that were raised in this trial), and
// everything else.
enum compared { COMPARED_LEVEL1, COMPARED_RAISED, COMPARED_OTHER, COMPARED_N };
enum { SCHEDULE_FIXED, SCHEDULE_ADAPTIVE, SCHEDULE_N };

struct compared_errors {
    double *errors; // level 1: in points; else relative, in %
    size_t n, capacity;
    size_t inside, shown; // single rounds' gauges
};

struct comparison {
    size_t trials, raised, changes; // how many, in how many anything was raised, changes of plan
    struct compared_errors of[COMPARED_N][SCHEDULE_N];
};

struct comparison *comparison_new(void);
void comparison_free(struct comparison *comparison);

bool comparison_level1(const struct catalog *catalog, unsigned metric);

// Takes a trial of both schedules in. `adaptive` knows what was raised; where nothing was, the two are the same and
// only counted.
void comparison_add(struct comparison *comparison, const struct plan *plan, const struct outcome *fixed,
                    const struct outcome *adaptive);

// Prints a table. False where intervals under the adaptive schedule are off: a few trials tell that to two points.
bool comparison_print(const struct comparison *comparison, const char *name);

#endif
