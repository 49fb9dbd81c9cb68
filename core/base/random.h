// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_RANDOM_H
#define TOPDOWND_CORE_BASE_RANDOM_H

// Reproducible random numbers: splitmix64 by Sebastiano Vigna (public domain, https://prng.di.unimi.it/splitmix64.c),
// with its constants.

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// A number from 0 to n - 1; n is far below 2^32, so the bias is below 2^-32.
static inline uint64_t random_below(uint64_t *state, uint64_t n) { return random_next(state) % n; }

#endif
