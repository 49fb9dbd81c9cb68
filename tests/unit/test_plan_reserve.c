// SPDX-License-Identifier: Apache-2.0
// Plans that leave counters to others.
#include "tests/unit/plan_check.h"

static struct plan *plan_reserving(const struct catalog *catalog, unsigned counters, unsigned reserved) {
    const struct plan_selection selection = {0, 0};
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = counters,
                                         .reserved_counters = reserved,
                                         .selections = &selection,
                                         .n_selections = 1,
                                         .slot_ns = SLOT_NS,
                                         .idle = 0.1};
    struct plan *plan = build_plan(&request);
    check_plan(plan, 0.1);
    return plan;
}

static struct catalog *catalog_of_pairs(void) {
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    metric_of(builder, "efg", "(E + F) / G", NULL);
    metric_of(builder, "cycles", "FIXED_CYCLES / cpu_seconds", NULL);
    group_of(builder, "All", "ab cd efg cycles");
    return catalog_builder_finish(builder);
}

static void test_no_event_group_takes_a_reserved_counter(void **state) {
    (void)state;
    static const struct {
        unsigned counters, reserved;
        size_t groups, unplannable;
    } cases[] = {{7, 0, 1, 0}, {7, 2, 2, 0}, {7, 3, 2, 0}, {6, 3, 3, 0}, {5, 3, 2, 1}};
    struct catalog *catalog = catalog_of_pairs();
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct plan *plan = plan_reserving(catalog, cases[i].counters, cases[i].reserved);
        size_t unplannable = 0;
        for (size_t m = 0; m < plan->n_metrics; m++)
            unplannable += plan->metrics[m].unit < 0;
        assert_int_equal(plan->n_groups, cases[i].groups);
        assert_int_equal(unplannable, cases[i].unplannable);
        for (size_t g = 0; g < plan->n_groups; g++) {
            const struct plan_group *group = &plan->groups[g];
            size_t general = group->n_events - holds(group->events, group->n_events, 1); // 1: FIXED_CYCLES
            assert_true(fit_check(&plan->pmu, plan->needs, group->events, group->n_events, NULL));
            assert_true(general <= cases[i].counters - cases[i].reserved);
        }
        assert_int_equal(plan->general_counters, cases[i].counters);
        assert_int_equal(plan->reserved_counters, cases[i].reserved);
        plan_free(plan);
    }
    catalog_free(catalog);
}

static void test_what_no_longer_fits_says_that_counters_are_reserved(void **state) {
    (void)state;
    struct catalog *catalog = catalog_of_pairs();
    struct plan *plan = plan_reserving(catalog, 4, 2);
    assert_string_equal(plan->metrics[2].reason,
                        "needs 3 counters at once, this host has 4, 2 of them reserved for others");
    plan_free(plan);
    catalog_free(catalog);
}

static void test_where_all_are_reserved_only_fixed_counters_are_used(void **state) {
    (void)state;
    struct catalog *catalog = catalog_of_pairs();
    for (unsigned reserved = 4; reserved <= 31; reserved += 27) {
        struct plan *plan = plan_reserving(catalog, 4, reserved);
        for (size_t m = 0; m < 3; m++)
            assert_int_equal(plan->metrics[m].unit, -1);
        assert_string_equal(plan->metrics[0].reason,
                            "needs 2 counters at once, this host has 4, 4 of them reserved for others");
        assert_int_equal(plan->reserved_counters, 4);
        assert_int_equal(plan->n_groups, 1);
        expect_events(plan->groups[0].events, plan->groups[0].n_events, "FIXED_CYCLES");
        plan_free(plan);
    }
    catalog_free(catalog);
}

static void test_where_all_are_reserved_level_1_is_not_measured_in_parts_either(void **state) {
    (void)state;
    const char *const parts[2][2] = {{"FIXED_CYCLES", "A"}, {"FIXED_CYCLES", "B"}};
    struct catalog_builder *builder = empty_builder();
    struct fault error;
    level1_of(builder, "4 * FIXED_CYCLES", "A / FIXED_CYCLES", "B / FIXED_CYCLES");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    group_of(builder, "L1", "frontend_bound backend_bound");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_reserving(catalog, 2, 1);
    assert_int_equal(plan->units[plan->level1_unit].n_groups, 2); // one counter is left: in parts
    plan_free(plan);
    plan = plan_reserving(catalog, 2, 2);
    assert_int_equal(plan->n_units, 0);
    assert_int_equal(plan->level1_unit, -1);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_events_that_take_no_counters_are_not_limited(void **state) {
    (void)state;
    struct catalog *catalog = catalog_of_pairs();
    struct plan *plan = plan_reserving(catalog, 0, 31);
    assert_int_equal(plan->n_groups, 1);
    assert_int_equal(plan->groups[0].n_events, 8);
    assert_int_equal(plan->reserved_counters, 0);
    plan_free(plan);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_event_group_takes_a_reserved_counter),
        cmocka_unit_test(test_what_no_longer_fits_says_that_counters_are_reserved),
        cmocka_unit_test(test_where_all_are_reserved_only_fixed_counters_are_used),
        cmocka_unit_test(test_where_all_are_reserved_level_1_is_not_measured_in_parts_either),
        cmocka_unit_test(test_events_that_take_no_counters_are_not_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
