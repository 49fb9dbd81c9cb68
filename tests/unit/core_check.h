// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_CORE_CHECK_H
#define TOPDOWND_TESTS_UNIT_CORE_CHECK_H

// For the tests of core/: a seed that can be repeated, and catalogs made in a few lines.

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
#include "core/plan/plan.h"
#include "core/spec/catalog_builder.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

static inline uint64_t seed_begin(void) {
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed %llu (repeat with SEED=)\n", (unsigned long long)seed);
    return seed;
}

// 0 up to, but not including, 1.
static inline double random_unit(uint64_t *state) { return (double)(random_next(state) >> 11) * 0x1p-53; }

// Builds a catalog with these events; an event whose name begins with FIXED has a counter of its own.
static inline struct catalog_builder *builder_of(const char *const *events, size_t n) {
    struct catalog_builder *builder;
    struct fault error;
    assert_int_equal(catalog_builder_new("toy", "Acme", "Toy", "toy", "toy_pmu", &builder), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(catalog_builder_add_event(builder, events[i], "", i, &error), i + 1);
    for (size_t i = 0; i < n; i++)
        if (strncmp(events[i], "FIXED", 5) == 0)
            assert_int_equal(catalog_builder_set_counters(builder, 4, &events[i], 1, &error), 0);
    return builder;
}

static inline void metric_of(struct catalog_builder *builder, const char *name, const char *formula,
                             const char *units) {
    const struct catalog_metric_text text = {.name = name, .formula = formula, .units = units};
    struct fault error;
    if (catalog_builder_add_metric(builder, &text, &error) < 0)
        fail_msg("%s", error.text);
}

// The level-1 split of 2 categories: 4 slots a cycle, shared out by A and B.
static inline void level1_of(struct catalog_builder *builder, const char *pipeline_slots, const char *frontend,
                             const char *backend) {
    struct fault error;
    metric_of(builder, "frontend_bound", frontend, "percent of slots");
    metric_of(builder, "backend_bound", backend, "percent of slots");
    assert_int_equal(
        catalog_builder_set_level1(builder, LEVEL1_USUAL,
                                   &(struct catalog_level1_text){.pipeline_slots = pipeline_slots, .width = 4}, &error),
        0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_FRONTEND_BOUND, "frontend_bound", &error), 0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_BACKEND_BOUND, "backend_bound", &error), 0);
}

// `metrics`: names with one space between them.
static inline void group_of(struct catalog_builder *builder, const char *name, const char *metrics) {
    char text[512];
    const char *names[32];
    size_t n = 0;
    struct fault error;
    (void)snprintf(text, sizeof text, "%s", metrics);
    for (char *rest = text, *metric; (metric = strsep(&rest, " "));)
        names[n++] = metric;
    if (catalog_builder_add_group(builder, name, "", "", names, n, &error) < 0)
        fail_msg("%s", error.text);
}

#endif
