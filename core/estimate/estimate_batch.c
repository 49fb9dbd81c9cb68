// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_batch.h"

bool estimate_batch_next(const struct estimate_batch *batch, size_t *at, struct estimate_part *part) {
    const unsigned *cpus = batch->in.cpus;
    size_t n = batch->in.n;
    part->in = lanes_all(1);
    if (batch->of_cpus) {
        part->block = batch->block;
        return (*at)++ == 0;
    }
    if (*at == n)
        return false;
    part->block = cpus[*at] / LANES;
    if (*at + LANES <= n && cpus[*at + LANES - 1] / LANES == part->block) {
        *at += LANES; // the whole block
        return true;
    }
    for (part->in = lanes_all(0); *at < n && cpus[*at] / LANES == part->block; ++*at)
        part->in.of[cpus[*at] % LANES] = 1;
    return true;
}

struct lanes estimate_batch_sum(const struct estimate_batch *batch, const struct lanes *values, size_t stride) {
    struct lanes sums = lanes_all(0);
    struct estimate_part part;
    size_t at = 0;
    while (estimate_batch_next(batch, &at, &part))
        lanes_add_product(&sums, &values[part.block * stride], &part.in);
    return estimate_batch_join(batch, &sums);
}
