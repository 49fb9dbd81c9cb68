// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include "daemon/uncore/uncore_groups.h"

// Which metric groups of kinds of PMUs outside the cores are measured (daemon/uncore/uncore_groups.h).

// A kind whose catalog has the group Fills with one metric, under this name.
struct kind {
    struct catalog *catalog;
    struct source source;
};

static void make(struct kind *kind, const char *metric) {
    static const char *const events[] = {"A", "B"};
    static const char *const groups[] = {"Fills"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    struct fault fault;
    metric_of(builder, metric, "A / cpu_seconds", NULL);
    metric_of(builder, "other", "B / cpu_seconds", NULL);
    group_of(builder, "Fills", metric);
    group_of(builder, "Others", "other");
    assert_int_equal(catalog_builder_set_defaults(builder, groups, 1, &fault), 0);
    kind->catalog = catalog_builder_finish(builder);
    kind->source.catalog = kind->catalog;
}

// How many groups of the second kind are selected while the first one measures its Fills.
static int select_second(const char *first_metric, const char *second_metric, bool recommended, const char *named) {
    struct plan_selection fills = {.group = 0}, *selections;
    struct kind cores = {.catalog = NULL}, first = cores, second = cores;
    struct config_group name = {.name = (char *)(uintptr_t)named};
    struct config config = {.uncore = {.named = &name, .n_named = named ? 1 : 0}};
    make(&cores, "cores");
    make(&first, first_metric);
    make(&second, second_metric);
    struct setup setup = {
        .config = &config,
        .n_types = 1,
        .n_boxes = 1,
        .types = {{.source = &cores.source}, {.source = &first.source, .selections = &fills, .n_selections = 1}}};
    int n = uncore_groups_select(&setup, second.catalog, recommended, &selections);
    assert_true(n >= 0);
    free(selections);
    catalog_free(second.catalog);
    catalog_free(first.catalog);
    catalog_free(cores.catalog);
    return n;
}

// Our own spec's kind goes before a vendor's file of the same PMU: one page cannot have the same series of both.
static void test_a_named_group_that_another_kind_measures_is_told_once(void **state) {
    (void)state;
    assert_int_equal(select_second("fills", "fills", false, "Fills"), 0);
    assert_int_equal(select_second("fills", "wide_fills", false, "Fills"), 1);
    assert_int_equal(select_second("fills", "cores", false, "Fills"), 1); // cores are told of beside all kinds
    assert_int_equal(select_second("fills", "fills", false, "Others"),
                     1); // that the first one has, and does not measure
}

static void test_a_group_that_is_recommended_and_named_is_one(void **state) {
    (void)state;
    assert_int_equal(select_second("fills", "wide_fills", true, NULL), 1);
    assert_int_equal(select_second("fills", "wide_fills", true, "Fills"), 1);
    assert_int_equal(select_second("fills", "wide_fills", true, "Others"), 2);
    assert_int_equal(select_second("fills", "wide_fills", false, "Nobody's"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_named_group_that_another_kind_measures_is_told_once),
        cmocka_unit_test(test_a_group_that_is_recommended_and_named_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
