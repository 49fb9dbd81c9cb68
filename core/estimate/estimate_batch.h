// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_BATCH_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_BATCH_H

// The scopes of one batch (core/counts/scopes.h), whose estimates are made together in a round.

#include "core/estimate/estimate_cores.h"
#include "core/estimate/estimate_rounds.h"

struct estimate_batch {
    size_t index;         // of the batch
    bool of_cpus;         // each lane is a CPU of its own
    size_t block;         // if so: of these CPUs
    struct scope_cpus in; // else: the scope's CPUs
    const struct estimate_rounds *rounds;
    struct estimate_cores *cores; // for one sum at a time
    struct estimate_steps *steps; // unless of_cpus: have begun the scope
    double memory_rounds;         // as of estimate_new
};

// Adds a value of each CPU, times the slope in the lane, to the scopes' sums. `values` of a block of CPUs are `stride`
// apart from those of the next.
void estimate_batch_add(const struct estimate_batch *batch, struct lanes *sums, const struct lanes *slopes,
                        const struct lanes *values, size_t stride);

// The sums of a value of each CPU.
struct lanes estimate_batch_sum(const struct estimate_batch *batch, const struct lanes *values, size_t stride);

// The variance of the differences that estimate_cores has.
static inline struct estimate_variance estimate_batch_variance(const struct estimate_batch *batch) {
    return batch->of_cpus ? estimate_cores_variances(batch->cores, batch->block)
                          : estimate_cores_variance(batch->cores, batch->in, NULL);
}

// The next block with CPUs of the scopes: `at` begins at 0 and goes on. False: there are no more.
static inline bool estimate_batch_next(const struct estimate_batch *batch, size_t *at, size_t *block) {
    const unsigned *cpus = batch->in.cpus;
    if (batch->of_cpus) {
        *block = batch->block;
        return (*at)++ == 0;
    }
    if (*at == batch->in.n)
        return false;
    *block = cpus[*at] / LANES;
    if (*at + LANES <= batch->in.n && cpus[*at + LANES - 1] / LANES == *block) {
        *at += LANES; // the whole block
        return true;
    }
    while (*at < batch->in.n && cpus[*at] / LANES == *block)
        ++*at;
    return true;
}

#endif
