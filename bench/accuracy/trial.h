// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_TRIAL_H
#define TOPDOWND_BENCH_ACCURACY_TRIAL_H

// One simulated minute of some CPUs under one load, measured by one schedule: what it says, and what is true.

#include "bench/accuracy/load.h"
#include "core/adapt/adapt.h"
#include "core/estimate/estimate.h"

enum method {
    METHOD_OURS,
    METHOD_EVENTS,       // every event by itself, all sharing the counters by turns of 4 ms, as tools let the kernel do
    METHOD_GROUPS,       // whole event groups, 1 s each, in order
    METHOD_GROUPS_TICKS, // whole event groups, 4 ms each: the reference
    METHOD_N
};

struct setting {
    const char *name;
    const struct plan *plan; // its round is what is run
    unsigned n_cpus, n_counters;
    const double *rates; // [mix][catalog event]
    double seconds;
    const struct plan_request
        *adaptive; // NULL: the round stays; else core/adapt/adapt.h changes it, beginning with `plan`
};

// Of all metrics of the plan, on the whole.
struct outcome {
    double *value, *truth;  // [metric]
    double *low, *high;     // [metric]: METHOD_OURS while the round stays, else NaN
    double *weight;         // [metric]: the true denominator, of ratios
    double rotations;       // a CPU and second
    size_t *inside, *shown; // [metric]: single rounds' gauges with the truth inside, and all; METHOD_OURS
    bool *raised;           // [metric]: of a metric group that was raised at some time; NULL: nobody asks
    unsigned changes;       // of plan
};

// Runs it. `outcome` is filled, its arrays are the caller's.
void trial_run(const struct setting *setting, const struct load_kind *kind, enum method method, uint64_t seed,
               struct outcome *outcome);

#endif
