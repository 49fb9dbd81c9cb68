// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_COMPARISON_H
#define TOPDOWND_BENCH_ACCURACY_COMPARISON_H

// Compares the adaptive schedule with the fixed one on the same loads and seeds: which metrics gain, which lose.

#include "bench/accuracy/trial.h"

// The kinds of errors: of level 1, of metrics of groups that were raised in this trial (the bottleneck's tree leads to
// them), and of all other metrics.
enum compared { COMPARED_LEVEL1, COMPARED_RAISED, COMPARED_OTHER, COMPARED_N };
enum { SCHEDULE_FIXED, SCHEDULE_ADAPTIVE, SCHEDULE_N };

struct compared_errors {
    double *errors; // level 1: in points; else relative, in %
    size_t n, capacity;
    size_t inside, shown; // single rounds' gauges
};

struct comparison {
    size_t trials, raised, changes; // number of trials, trials with a raised group, changes of plan
    struct compared_errors of[COMPARED_N][SCHEDULE_N];
};

struct comparison *comparison_new(void);
void comparison_free(struct comparison *comparison);

bool comparison_level1(const struct catalog *catalog, unsigned metric);

// Adds a trial of both schedules. `adaptive` knows what was raised; if nothing was, the two are identical and only
// counted.
void comparison_add(struct comparison *comparison, const struct plan *plan, const struct outcome *fixed,
                    const struct outcome *adaptive);

// Prints a table. False if intervals under the adaptive schedule are wrong; a few trials show that to two points.
bool comparison_print(const struct comparison *comparison, const char *name);

#endif
