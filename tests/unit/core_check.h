// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_CORE_CHECK_H
#define TOPDOWND_TESTS_UNIT_CORE_CHECK_H

// For the tests of core/: a repeatable seed, and the builder.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/random.h"
#include "tests/build/build.h"

static inline uint64_t seed_begin(void) {
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed %llu (repeat with SEED=)\n", (unsigned long long)seed);
    return seed;
}

// 0 up to, but not including, 1.
static inline double random_unit(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

#endif
