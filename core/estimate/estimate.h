// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_H

// How far a gauge can be trusted: the standard error of every metric on every CPU, socket and on the host.
//
// A unit counts in a few slots at random places of each round and is extrapolated to the round. How much the result
// varies with the places is seen from how much rounds differ. Per CPU and metric, a round's extrapolated counts are
// made into one number, its residual: the metric's derivatives times the counts (for a ratio, (numerator - R x
// denominator) / denominator). Half the squared difference of two successive residuals estimates a residual's variance,
// whatever the load's slow course; the share of time that was covered is taken off, for what was counted is known.
// Cores have their slots at places of their own, so the variances of their residuals add up to a socket's and the
// host's. One round has one difference, so the variance is an exponentially weighted mean over recent rounds; degrees
// of freedom follow from how many rounds and cores carry it. docs/estimation.md derives all of this, with its limits.
//
// A field of PERF_METRICS is a share of the pipeline slots in 255ths, so each window's count is rounded. A load that
// does not change is rounded the same way every time and everywhere: that error does not shrink with windows, rounds or
// CPUs, and is a floor of the standard error.
//
// Windows that were all alike may have missed what mattered. Where other units counted clearly more of an event that
// they have in common, the share that was not seen is uncertain by its own size.
//
// Derivatives are taken numerically where recent rounds are, so this holds for every formula; a metric made of other
// metrics passes their residuals on. All memory is taken when made.

#include <stdbool.h>
#include <stdint.h>

#include "core/counts/cells.h"
#include "core/host/topology.h"

enum {
    ESTIMATE_MEMORY_ROUNDS = 16, // a difference this many rounds ago weighs 1/e of the newest
    ESTIMATE_FIELD_STEPS = 255   // of a PERF_METRICS field of 8 bits (Intel SDM volume 3, "Performance Metrics")
};

struct estimate; // private

// How good an interval is: by half its width, for shares in points, for others relative to the value.
enum estimate_quality {
    ESTIMATE_NONE, // too few rounds so far: there is no interval
    ESTIMATE_GOOD, // 1 point; 5 %
    ESTIMATE_FAIR, // 3 points; 20 %
    ESTIMATE_POOR,
    ESTIMATE_QUALITY_N
};
const char *estimate_quality_name(enum estimate_quality quality);

struct estimate_interval {
    double standard_error; // all three in the exported scale; NaN where there is none
    double low, high;      // 95 %
    enum estimate_quality quality;
};

// Scopes are those of core/counts/scopes.h: the host, each socket, each CPU. `plan` and `topology` are borrowed and
// must outlive it. `memory_rounds`: as ESTIMATE_MEMORY_ROUNDS, at least 1; INFINITY: all rounds weigh the same. NULL
// where memory is short.
struct estimate *estimate_new(const struct plan *plan, const struct topology *topology, double memory_rounds);
struct estimate *estimate_free(struct estimate *estimate);

// Takes in a round that lasted `seconds`: cells of the same plan and as many CPUs.
void estimate_take_round(struct estimate *estimate, const struct cells *cells, double seconds);

// A CPU went away or time passed unmeasured: the rounds before and after are no neighbours. The second: of one unit.
void estimate_forget_cpu(struct estimate *estimate, size_t cpu);
void estimate_forget_unit(struct estimate *estimate, size_t cpu, size_t unit);

// The interval of `value`, a metric's exported gauge of one scope over the last `rounds` rounds (1 for a snapshot's).
struct estimate_interval estimate_get(const struct estimate *estimate, size_t scope, size_t metric, double value,
                                      double rounds);

// Degrees of freedom of that standard error; 0 where there is none.
double estimate_degrees(const struct estimate *estimate, size_t scope, size_t metric);

#endif
