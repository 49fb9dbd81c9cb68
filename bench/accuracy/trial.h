// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_TRIAL_H
#define TOPDOWND_BENCH_ACCURACY_TRIAL_H

// One simulated minute of some CPUs under one load, measured by one schedule: the measured values and the truth.

#include "bench/accuracy/load.h"
#include "core/adapt/adapt.h"
#include "core/estimate/estimate.h"
#include "core/tally/snapshot.h"

enum method {
    METHOD_OURS,
    METHOD_EVENTS,       // every event by itself, sharing the counters in turns of 4 ms, as with most tools
    METHOD_GROUPS,       // whole event groups, 1 s each, in order
    METHOD_GROUPS_TICKS, // whole event groups, 4 ms each: the reference
    METHOD_N
};

enum { SETTING_LAYOUTS_MAX = 2 };

struct setting {
    const char *name;
    struct snapshot_layout *layouts[SETTING_LAYOUTS_MAX]; // of the same plan for n_cpus, and for the most of any load
    const struct plan *plan;                              // theirs: the trial runs its round
    unsigned n_cpus, n_counters;
    unsigned siblings;   // so many CPUs in a row do the same at the same times; 0: one
    const double *rates; // [mix][catalog event]
    double seconds;
    bool first_only; // only the first CPU is judged; the others are there because the schedule is another one then
    const struct plan_request
        *adaptive; // NULL: the round stays; else core/adapt/adapt.h changes it, starting from `plan`
};

// Makes the setting's layouts from as many equal plans as needed. n_cpus must be set.
void setting_init(struct setting *setting, struct plan *(*make_plan)(const void *context), const void *context);
void setting_deinit(struct setting *setting);
struct snapshot_layout *setting_layout(const struct setting *setting, size_t n_cpus);

// The results of all metrics of the plan, over the whole trial.
struct outcome {
    double *value, *truth;                    // [metric]
    double *low, *high;                       // [metric]: METHOD_OURS while the round stays, else NaN
    double *weight;                           // [metric]: the true denominator, of ratios
    double rotations;                         // a CPU and second
    double interrupts_first, interrupts_last; // a second, of the first and of the last CPU; METHOD_OURS
    double count, true_count;                 // of the first event of the level-1 unit; METHOD_OURS
    size_t *inside, *shown; // [metric]: single rounds' gauges that contain the truth, and all; METHOD_OURS
    bool *raised;           // [metric]: of a metric group that was raised at some time; NULL: not needed
    unsigned changes;       // of plan
};

void outcome_init(struct outcome *outcome, size_t n_metrics);
void outcome_deinit(struct outcome *outcome);

// Runs it and fills `outcome`.
void trial_run(const struct setting *setting, const struct load_kind *kind, enum method method, uint64_t seed,
               struct outcome *outcome);

#endif
