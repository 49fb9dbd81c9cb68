// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_TRIAL_STATE_H
#define TOPDOWND_BENCH_ACCURACY_TRIAL_STATE_H

// The state that the files of trial share: trial.c runs a schedule, adaptive.c changes its plan.

#include "bench/accuracy/trial.h"
#include "core/counts/operands.h"

struct trial {
    const struct setting *setting;
    const struct plan *plan;
    struct load *loads; // [cpu]
    double *rates;      // [mix][catalog event]
    size_t n_cpus, n_events;
    struct rows *rows;
    uint64_t state;
    struct adapt *adapt;            // NULL: the round stays
    struct diagnosis *diagnosis;    // likewise
    struct snapshot_layout *layout; // of the current plan

    // of a round
    struct cells *counted;      // scaled for contention
    struct cells *truth;        // all that happened
    double *parts;              // [cpu][part][event of the level-1 unit]: from whole windows
    size_t n_parts;             // of a CPU
    double *on_left, *off_left; // [cpu][unit]: uncounted time
    // of all rounds
    double *all_values, *all_truth; // [row]: extrapolated, over all CPUs
    struct operands *at;            // one at a time
};

// The CPUs that are judged: the first ones.
static inline size_t trial_n_judged(const struct trial *t) { return t->setting->first_only ? 1 : t->n_cpus; }

// trial.c: draws the loads of so many seconds; and frees all.
void trial_begin(struct trial *t, const struct setting *setting, const struct load_kind *kind, double seconds,
                 uint64_t seed);
void trial_end(struct trial *t);

// topology.c
struct topology *trial_topology(size_t n_cpus);

// happening.c: what an event counts while the load runs its first mix for `on` seconds and the other one for `off`, and
// noise on it.
double trial_count(const struct trial *t, const struct load_kind *kind, unsigned event, double on, double off);
double trial_noise(struct trial *t, const struct load_kind *kind, unsigned event, double on, double off);
// Seconds in and outside the load's first mix in a window, while the counters are ours.
void trial_running(const struct load *load, double from, double to, double *on, double *off);
// Rounds a field of PERF_METRICS, a share of the pipeline slots in 255ths; and those of a window.
bool trial_is_field(const struct plan *plan, unsigned event);
double trial_round_field(double count, double slots);
void trial_round_fields(const struct trial *t, const unsigned *events, size_t n, double *counts);
// Evaluates all metrics from a row of sums into `out`, by place in the plan.
void trial_evaluate(struct trial *t, const double *sums, double *out);

// ours.c: topdownd's own schedule, and how much longer than the setting says it takes at most.
void trial_run_ours(struct trial *t, uint64_t seed, struct outcome *outcome);
double trial_extra_seconds(const struct plan *plan);

// adaptive.c: begins with nothing raised; takes a round, and says whether other groups are raised now; then changes the
// plan and its layout.
void trial_adapt_begin(struct trial *t);
bool trial_adapt_round(struct trial *t, struct snapshot *snapshot);
void trial_adapt_change(struct trial *t, struct outcome *outcome);

#endif
