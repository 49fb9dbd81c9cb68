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
    struct topology *topology;
    size_t n_cpus, n_events;
    struct rows *rows;
    uint64_t state;
    struct estimate *minute, *gauge;
    struct adapt *adapt;            // NULL: the round stays
    struct diagnosis *diagnosis;    // likewise
    struct snapshot_layout *layout; // of the current plan, if the round may change

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

// topology.c
struct topology *trial_topology(size_t n_cpus);

// adaptive.c: begins with nothing raised; then takes a round that ended at `end` with gauges `said`.
void trial_adapt_begin(struct trial *t);
void trial_adapt_round(struct trial *t, double end, const double *said, struct outcome *outcome);

#endif
