// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_RESIDENT_CATALOG_H
#define TOPDOWND_TESTS_UNIT_RESIDENT_CATALOG_H

// A core with a resident group, as Intel's PERF_METRICS: SLOTS on a fixed counter leads two fields that take none,
// instructions on a fixed counter, and an event that takes a general one.

#include "tests/unit/core_check.h"

enum { R_SLOTS = 1, R_RET, R_FE, R_INST, R_DROP, R_A, R_B, R_C, R_N };

static const char *const R_NAMES[R_N] = {"cpu_seconds", "SLOTS", "RET", "FE", "INST", "DROP", "A", "B", "C"};

static inline struct catalog_builder *resident_builder(void) {
    static const char *const fixed[] = {"SLOTS", "INST"}, *const resident[] = {"SLOTS", "RET", "FE", "INST", "DROP"};
    struct catalog_builder *builder;
    struct fault error;
    assert_int_equal(catalog_builder_new("toy", "Acme", "Toy", "toy", "toy_pmu", &builder), 0);
    assert_int_equal(catalog_builder_add_format(builder, "event", "config:0-7", &error), 0);
    for (unsigned e = 1; e < R_N; e++) {
        char terms[16];
        (void)snprintf(terms, sizeof terms, "event=%u", e);
        const struct catalog_event_text text = {
            .name = R_NAMES[e], .terms = terms, .takes = e == R_RET || e == R_FE ? 0 : 1};
        assert_int_equal(catalog_builder_add_event_text(builder, &text, &error), e);
    }
    assert_int_equal(catalog_builder_set_counters(builder, 4, fixed, 2, &error), 0);
    assert_int_equal(catalog_builder_set_resident(builder, resident, 5, &error), 0);
    level1_of(builder, "SLOTS", "100 * FE / (RET + FE)", "100 * RET / (RET + FE)");
    return builder;
}

#endif
