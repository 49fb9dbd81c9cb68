// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_LED_CATALOG_H
#define TOPDOWND_TESTS_UNIT_LED_CATALOG_H

// A core with topdown counters of its own, like Intel's PERF_METRICS: SLOTS on a fixed counter leads every event group,
// with two fields that take no counter, instructions on a fixed counter, and an event that takes a general one.

#include "tests/unit/core_check.h"

enum { R_SLOTS = 1, R_RET, R_FE, R_INST, R_DROP, R_A, R_B, R_C, R_N };

static const char *const R_NAMES[R_N] = {"cpu_seconds", "SLOTS", "RET", "FE", "INST", "DROP", "A", "B", "C"};

// With another field, of `level2` (NULL: without), that level 1 does not count.
static inline struct catalog_builder *led_builder_with(const char *level2) {
    static const char *const fixed[] = {"SLOTS", "INST"};
    const char *const listed[] = {"SLOTS", "RET", "FE", "INST", "DROP", level2};
    struct catalog_builder *builder = builder_for("toy_pmu");
    struct fault error;
    assert_int_equal(catalog_builder_add_format(builder, "event", "config:0-7", &error), 0);
    for (unsigned e = 1; e < R_N; e++) {
        char terms[16];
        (void)snprintf(terms, sizeof terms, "event=%u", e);
        const struct catalog_event_text text = {
            .name = R_NAMES[e], .terms = terms, .takes = e == R_RET || e == R_FE ? 0 : 1};
        assert_int_equal(catalog_builder_add_event_text(builder, &text, &error), e);
    }
    if (level2) {
        const struct catalog_event_text text = {.name = level2, .terms = "event=0x80", .takes = 0};
        assert_int_equal(catalog_builder_add_event_text(builder, &text, &error), R_N);
    }
    assert_int_equal(catalog_builder_set_counters(builder, 4, fixed, 2, &error), 0);
    assert_int_equal(catalog_builder_set_topdown(builder, listed, level2 ? 6 : 5, &error), 0);
    level1_of(builder, "SLOTS", "100 * FE / (RET + FE)", "100 * RET / (RET + FE)");
    return builder;
}

static inline struct catalog_builder *led_builder(void) { return led_builder_with(NULL); }

#endif
