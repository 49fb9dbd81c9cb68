// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_BATCH_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_BATCH_H

// The scopes of one batch (core/counts/scopes.h), whose estimates are made together in a round.

#include "core/estimate/estimate_cores.h"
#include "core/estimate/estimate_dither.h"
#include "core/estimate/estimate_rounds.h"

struct estimate_batch {
    size_t index;         // of the batch
    bool of_cpus;         // each lane is a CPU of its own
    size_t block;         // if so: of these CPUs
    bool first;           // if so: theirs is the first round taken in, so it is compared with none before it
    struct scope_cpus in; // else: the scope's CPUs
    const struct estimate_rounds *rounds;
    const struct estimate_dither *dither;
    struct estimate_cores *cores; // for one sum at a time
    struct estimate_steps *steps; // unless of_cpus: have begun the scope
    double memory_rounds;         // as of estimate_new
};

// The sums of a value of each CPU. `values` of a block of CPUs are `stride` apart from those of the next.
struct lanes estimate_batch_sum(const struct estimate_batch *batch, const struct lanes *values, size_t stride);

// The variance of the differences that estimate_cores has.
static inline struct estimate_variance estimate_batch_variance(const struct estimate_batch *batch) {
    return batch->of_cpus ? estimate_cores_variances(batch->cores, batch->block)
                          : estimate_cores_variance(batch->cores, batch->in, NULL);
}

// CPUs of a block.
struct estimate_part {
    size_t block;
    struct lanes in; // 1 in the lanes of CPUs of the scopes, else 0
};

// The next CPUs of the scopes: `at` begins at 0 and goes on. False: there are no more.
bool estimate_batch_next(const struct estimate_batch *batch, size_t *at, struct estimate_part *part);

// A sum over lanes of CPUs is that of a scope which has them all, in all lanes.
static inline struct lanes estimate_batch_join(const struct estimate_batch *batch, const struct lanes *sums) {
    return batch->of_cpus ? *sums : lanes_all(lanes_sum(sums));
}

#endif
