// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_CORES_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_CORES_H

// Variance over the cores of a scope. SMT siblings have their slots at the same places, so they are one random draw:
// differences are summed by core first.

#include "core/base/lanes.h"
#include "core/estimate/estimate_steps.h"

struct estimate_cores {
    const struct topology *topology; // borrowed
    struct lanes *differences;       // [block of CPUs]: each CPU's difference between two rounds, scaled by the
                                     // uncovered share of time
    double *sums;                    // [core]: 0 between uses
};

struct estimate_variance {
    struct lanes variance; // half the sum of each core's squared difference
    struct lanes squares;  // the sum of the squared terms
};

// `topology` must outlive it. NULL if out of memory.
struct estimate_cores *estimate_cores_new(const struct topology *topology);
struct estimate_cores *estimate_cores_free(struct estimate_cores *cores);

// The variance over the CPUs `in`, in all lanes; `steps`, unless NULL, gets each core's difference. And the variance of
// each CPU of a block alone.
struct estimate_variance estimate_cores_variance(struct estimate_cores *cores, struct scope_cpus in,
                                                 struct estimate_steps *steps);
struct estimate_variance estimate_cores_variances(const struct estimate_cores *cores, size_t block);

#endif
