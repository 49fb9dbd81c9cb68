// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_COUNTERS_H
#define TOPDOWND_BENCH_ACCURACY_COUNTERS_H

// The counters of a trial's CPUs, as the sampler sees them: a PMU whose counts follow from the loads, and a clock of
// the CPUs' busy time in steps of 10 ms, as the kernel's. Both know what truly happened.

#include "bench/accuracy/trial_state.h"
#include "collectors/host/busy_clock.h"
#include "collectors/pmu/pmu.h"

#define COUNTERS_EPOCH_NS UINT64_C(1000000000) // a trial's time 0

struct counters {
    struct pmu pmu; // first
    struct busy_clock busy_clock;
    struct trial *trial;
    double now;                     // seconds of the trial
    struct counters_group **groups; // by handle
    int *handles;                   // [cpu][group of the plan]: -1: not open
    size_t n_groups, capacity;
    uint64_t *interrupts; // [cpu]: so far
};

struct counters *counters_new(struct trial *trial);
struct counters *counters_free(struct counters *counters);

// Adds to `truth` what a CPU's events did in a round: a row of values, of each unit. Noise that no window counted is
// drawn. Rounds of a CPU must follow one another and end now or have ended at the last edge.
void counters_truth(struct counters *counters, size_t cpu, double from, double to, double *truth);

#endif
