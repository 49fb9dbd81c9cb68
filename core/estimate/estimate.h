// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_H

// Estimates how far a gauge can be trusted: the standard error of every metric on every CPU, every socket and the host.
//
// A unit counts in a few slots at random places of each round and is extrapolated to the round. The differences between
// rounds show how much the result varies with the places. Per CPU and metric, a round's extrapolated counts are reduced
// to one number, the residual: the metric's derivatives times the counts (for a ratio, (numerator - R x denominator) /
// denominator). Half the squared difference of two successive residuals estimates a residual's variance, unaffected by
// slow changes of the load. The covered share of time is subtracted, because its counts are known. Each core has its
// slots at different places, so the variances of cores add up to a socket's and the host's. A round gives one
// difference, so the variance is an exponentially weighted mean over recent rounds; the degrees of freedom follow from
// the number of rounds and cores that contribute. docs/estimation.md derives all of this, with its limits.
//
// A field of PERF_METRICS is a share of the pipeline slots in 255ths, so each window's count is rounded. A constant
// load is rounded the same way every time and everywhere. This error does not shrink with windows, rounds or CPUs, so
// it is a floor of the standard error; as far as readings vary, it averages out (estimate_dither.h).
//
// Likewise where the PMU sees a core from one thread: how many pipeline slots the core had is an estimate with an error
// of its own (core/counts/core_slots.h), which is the same in every window.
//
// Idle pieces are common to all cores, and what these do there in step is the same error on all of them. How much more
// the sum of the cores differs between rounds than they do one by one tells whether they are in step; what that leaves
// unseen adds to the variance. How much a piece differs from the rest follows from how much windows differ, where every
// slot measures the same; a round's standard error is never below a resolution (estimate_shape.h).
//
// Windows that were all alike may have missed something important. If other units counted clearly more of a shared
// event, the unseen share adds an uncertainty of its own size. The windows that carry a ratio may be few: then its
// rounds hide a part of their own errors, which leverage tells, and fewer than about two have no interval at all
// (estimate_unseen.h).
//
// A core that is held on its groups while it sleeps has few windows, which may all be of its sleep, or all of its time
// awake. What they have missed is known, and so is how much it differs on the host (estimate_strata.h).
//
// Single CPUs are most of the scopes of a large host and most of the work, and nearly nobody reads their intervals. So
// they can be left out, and be made again from then on.
//
// Where nothing rotates and nothing takes a counter (software events alone), counts are exact: a metric's interval is
// its value, from the first one on, and nothing is estimated.
//
// Derivatives are taken at the mean of recent rounds; a metric made of other metrics passes their residuals on. All
// memory is allocated at creation.

#include <stdbool.h>
#include <stdint.h>

#include "core/counts/cells.h"
#include "core/estimate/estimate_quality.h"
#include "core/host/topology.h"

enum {
    ESTIMATE_MEMORY_ROUNDS = 16, // a difference this many rounds ago has 1/e of the newest one's weight
    ESTIMATE_FIELD_STEPS = NEIGHBOURS_FIELD_STEPS
};
#define ESTIMATE_PIECE_RELATIVE 0.2 // how much what happens in an idle piece may differ from the rest: estimate_shape.h

struct estimate; // private

struct estimate_interval {
    double standard_error; // all three in the exported scale; NaN: none
    double low, high;      // 95 %
    enum estimate_quality quality;
    enum estimate_doubt doubt; // why it is poor or absent
};

// The same in the lanes of a batch of scopes.
struct estimate_intervals {
    struct lanes standard_error, low, high;
    struct lanes quality; // enum estimate_quality
    struct lanes doubt;   // enum estimate_doubt
};

// What many rounds together come to, in the lanes of a batch, in the exported scale.
struct estimate_many {
    struct lanes variance; // of one round: that of n rounds is an n-th. NaN: too few rounds or windows
    struct lanes kept;     // the standard error that stays however many rounds there are
    struct lanes degrees;  // of freedom of the variance
    struct lanes least;    // the least standard error of a round: that of n rounds is smaller by their root
    struct estimate_causes from[LANES];
};

// The interval of n rounds together.
struct estimate_rounds_of {
    double variance, kept, degrees, least; // as above
    struct estimate_causes from;           // what they come from; without a variance, why there is none: `few`
};
struct estimate_width estimate_width_of_many(const struct estimate_rounds_of *of, double rounds);

// Scopes are those of core/counts/scopes.h: the host, each socket, each CPU. `plan` and `topology` are borrowed and
// must outlive it. `memory_rounds`: as ESTIMATE_MEMORY_ROUNDS, at least 1; INFINITY: all rounds weigh the same. NULL if
// out of memory.
struct estimate *estimate_new(const struct plan *plan, const struct topology *topology, double memory_rounds);
struct estimate *estimate_free(struct estimate *estimate);

// Takes in the CPUs' rounds that are fresh (struct cell_time), each extrapolated to `seconds`: cells of the same plan
// and the same number of CPUs. CPUs whose rounds last longer count with their last two.
void estimate_take_round(struct estimate *estimate, const struct cells *cells, double seconds);

// The same step by step, so that a batch's intervals can be asked for while the processor's caches hold what they
// follow from: first all CPUs, then each batch of scopes once.
void estimate_take_cpus(struct estimate *estimate, const struct cells *cells, double seconds);
void estimate_take_batch(struct estimate *estimate, size_t batch);

// Single CPUs have estimates unless they are not wanted. Where they are wanted again, they are what an estimate would
// have whose first round comes next: the second one has intervals. Only what estimate_strata.h and estimate_shared.h
// know of all cores is kept. Those of sockets and the host never change by it.
void estimate_want_cpus(struct estimate *estimate, bool wanted);
bool estimate_wants_batch(const struct estimate *estimate, size_t batch); // else it has no intervals

// After a CPU was offline or time passed unmeasured: do not compare the rounds before and after. The second: for one
// unit.
void estimate_forget_cpu(struct estimate *estimate, size_t cpu);
void estimate_forget_unit(struct estimate *estimate, size_t cpu, size_t unit);

// The interval of `value`, a metric's exported gauge of one scope over the last `rounds` rounds (1 for a snapshot's).
struct estimate_interval estimate_get(const struct estimate *estimate, size_t scope, size_t metric, double value,
                                      double rounds);

// The same for the scopes of a batch.
void estimate_get_batch(const struct estimate *estimate, size_t batch, size_t metric, const struct lanes *values,
                        double rounds, struct estimate_intervals *out);

// What rounds like the recent ones come to together, for the scopes of a batch; `values` as above.
void estimate_get_many(const struct estimate *estimate, size_t batch, size_t metric, const struct lanes *values,
                       struct estimate_many *out);

// Degrees of freedom of that standard error; 0 if there is none; INFINITY if it is exact.
double estimate_degrees(const struct estimate *estimate, size_t scope, size_t metric);

#endif
