// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_batch.h"

void estimate_batch_add(const struct estimate_batch *batch, struct lanes *sums, const struct lanes *slopes,
                        const struct lanes *values, size_t stride) {
    if (batch->of_cpus) {
        struct lanes by = *slopes, of = values[batch->block * stride];
        for (size_t l = 0; l < LANES; l++)
            sums->of[l] += by.of[l] * of.of[l];
        return;
    }
    double sum = sums->of[0], slope = slopes->of[0]; // the lanes are alike
    size_t at = 0, block;
    for (size_t c = 0; estimate_batch_next(batch, &at, &block);) {
        const double *of = values[block * stride].of;
        for (size_t l = 0; l < LANES && at - c == LANES; l++)
            sum += slope * of[l];
        for (; c < at && at - c < LANES; c++)
            sum += slope * of[batch->in.cpus[c] % LANES];
        c = at;
    }
    *sums = lanes_all(sum);
}

struct lanes estimate_batch_sum(const struct estimate_batch *batch, const struct lanes *values, size_t stride) {
    struct lanes sums = lanes_all(0), one = lanes_all(1);
    if (batch->of_cpus)
        return values[batch->block * stride];
    estimate_batch_add(batch, &sums, &one, values, stride);
    return sums;
}
