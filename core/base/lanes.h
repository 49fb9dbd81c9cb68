// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_LANES_H
#define TOPDOWND_CORE_BASE_LANES_H

// The same computation for several CPUs at once, one in each lane: steps are decoded once for all, and compilers turn a
// loop over all lanes into vector instructions. A lane's result has the same bits as if it was computed alone. Lanes
// that nobody needs hold any numbers.

#include <stdbool.h>
#include <stddef.h>

enum { LANES = 8 }; // a cache line of doubles

struct lanes {
    double of[LANES];
};

static inline struct lanes lanes_all(double value) {
    struct lanes all;
    for (size_t l = 0; l < LANES; l++)
        all.of[l] = value;
    return all;
}

static inline double lanes_sum(const struct lanes *lanes) {
    double sum = 0;
    for (size_t l = 0; l < LANES; l++)
        sum += lanes->of[l];
    return sum;
}

// Adds the products of two to sums.
static inline void lanes_add_product(struct lanes *sums, const struct lanes *x, const struct lanes *y) {
    struct lanes to = *sums, a = *x, b = *y;
    for (size_t l = 0; l < LANES; l++)
        to.of[l] += a.of[l] * b.of[l];
    *sums = to;
}

// True if some lane is not 0.
static inline bool lanes_some(const struct lanes *lanes) {
    bool some = false;
    for (size_t l = 0; l < LANES; l++)
        some |= lanes->of[l] != 0;
    return some;
}

static inline size_t lanes_blocks(size_t n) { return (n + LANES - 1) / LANES; }

// The greater of two; `usual` if the candidate is NaN.
static inline double lanes_max(double candidate, double usual) { return candidate > usual ? candidate : usual; }

#endif
