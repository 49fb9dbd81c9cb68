// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include <errno.h>

// The event groups of a plan. test_plan_round.c tests how they fill a round.

// A catalog of random ratios in two groups, with level 1 in one of three.
static struct catalog *random_catalog(uint64_t *random) {
    struct catalog_builder *builder = empty_builder();
    if (random_below(random, 3) == 0)
        level1_of(builder, "4 * FIXED_CYCLES", "100 * A / (4 * FIXED_CYCLES)", "100 * (B + C) / (4 * FIXED_CYCLES)");
    size_t n = 1 + random_below(random, 10);
    for (size_t i = 0; i < n; i++) {
        char name[32], formula[64];
        (void)snprintf(name, sizeof name, "m%zu", i);
        (void)snprintf(formula, sizeof formula, "(%s + %s) / (%s + cpu_seconds)",
                       EVENTS[random_below(random, EVENTS_N)], EVENTS[random_below(random, EVENTS_N)],
                       EVENTS[random_below(random, EVENTS_N)]);
        metric_of(builder, name, formula, NULL);
    }
    const char *names[16];
    const struct catalog *catalog = catalog_builder_catalog(builder);
    for (size_t i = 0; i < catalog->n_metrics; i++)
        names[i] = catalog->metrics[i].name;
    struct fault error;
    size_t half = catalog->n_metrics / 2;
    assert_int_equal(catalog_builder_add_group(builder, "First", "", "", names, half + 1, &error), 0);
    assert_int_equal(
        catalog_builder_add_group(builder, "Second", "", "", names + half, catalog->n_metrics - half, &error), 1);
    return catalog_builder_finish(builder);
}

static void test_random_plans_obey_every_rule(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    size_t plannable = 0, not_plannable = 0, unsupported = 0;
    for (int i = 0; i < 2000; i++) {
        struct catalog *catalog = random_catalog(&random);
        double idle = random_unit(&random) * 0.9;
        const struct plan_selection selections[] = {{0, (unsigned)random_below(&random, 5)},
                                                    {1, (unsigned)random_below(&random, 5)}};
        uint8_t support[1 + EVENTS_N] = {0};
        for (size_t e = 1; e < N_OF(support); e++)
            support[e] = random_below(&random, 8) == 0 ? PLAN_UNSUPPORTED : (uint8_t)random_below(&random, 2);
        unsigned counters = (unsigned)random_below(&random, 7);
        struct plan *plan = plan_supporting(catalog, support, counters, idle, selections, 2);
        assert_memory_equal(plan->support, support, sizeof support);
        check_plan(plan, idle);
        for (size_t m = 0; m < plan->n_metrics; m++) {
            *(plan->metrics[m].unit < 0 ? &not_plannable : &plannable) += 1;
            unsupported += strstr(plan->metrics[m].reason, "does not support") != NULL;
        }
        plan_free(plan);
        catalog_free(catalog);
    }
    assert_true(plannable > 1000 && not_plannable > 1000 && unsupported > 1000);
}

// ---- event groups ----

static void test_a_metrics_events_are_in_one_group_and_groups_are_few(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    metric_of(builder, "ef", "E / F", NULL);
    metric_of(builder, "ipc", "A / FIXED_CYCLES", NULL);
    group_of(builder, "All", "ab cd ef ipc");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 4, 0.1);
    check_plan(plan, 0.1);
    assert_int_equal(plan->n_groups, 2);
    assert_string_equal(plan->groups[0].name, "all");
    assert_string_equal(plan->groups[1].name, "all_2");
    expect_events(plan->groups[0].events, plan->groups[0].n_events, "FIXED_CYCLES A B C D");
    expect_events(plan->groups[1].events, plan->groups[1].n_events, "E F");
    plan_free(plan);
    plan = plan_of_all(catalog, 6, 0.1);
    assert_int_equal(plan->n_groups, 1);
    plan_free(plan);
    plan = plan_of_all(catalog, 0, 0.1);
    assert_int_equal(plan->n_groups, 1);
    plan_free(plan);
    catalog_free(catalog);
}

// Others had counters for what they have counted, whatever this host has.
static void test_a_metric_of_others_counts_needs_no_counters_here(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "many", "(A + B + C + D + E) / F", NULL);
    group_of(builder, "All", "many");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan_request request = {.catalog = catalog, .general_counters = 4, .slot_ns = SLOT_NS, .idle = 0.1};
    for (unsigned apart = 0; apart < 2; apart++) {
        request.apart = apart > 0;
        struct plan *plan = build_plan(&request);
        assert_int_equal(plan->n_metrics, 1);
        assert_int_equal(plan_metric_planned(&plan->metrics[0]), apart);
        plan_free(plan);
    }
    catalog_free(catalog);
}

static void test_the_level_1_categories_are_one_unit(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    level1_of(builder, "4 * FIXED_CYCLES", "100 * A / (4 * FIXED_CYCLES)", "100 * B / (4 * FIXED_CYCLES)");
    metric_of(builder, "ac", "A / C", NULL);
    group_of(builder, "L1", "frontend_bound backend_bound");
    group_of(builder, "Other", "ac");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 2, 0.1); // A and B apart would fit beside C, but are not parted
    check_plan(plan, 0.1);
    assert_int_equal(plan->n_units, 2);
    assert_int_equal(plan->level1_unit, 0);
    assert_int_equal(plan->metrics[0].unit, 0);
    assert_int_equal(plan->metrics[1].unit, 0);
    assert_int_equal(plan->metrics[2].unit, 1);
    expect_events(plan->units[0].events, plan->units[0].n_events, "FIXED_CYCLES A B");
    plan_free(plan);
    catalog_free(catalog);
}

static void test_one_selected_category_brings_the_events_of_all(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    level1_of(builder, "4 * D", "A / FIXED_CYCLES", "B / FIXED_CYCLES");
    group_of(builder, "One", "frontend_bound");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 3, 0.1);
    assert_int_equal(plan->n_metrics, 1);
    expect_events(plan->groups[0].events, plan->groups[0].n_events, "FIXED_CYCLES A B D");
    plan_free(plan);
    catalog_free(catalog);
}

static void test_a_metric_in_two_selected_groups_appears_once(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    group_of(builder, "One", "ab cd");
    group_of(builder, "Two", "cd ab");
    const struct plan_selection selections[] = {{1, 0}, {0, 0}, {1, 0}};
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of(catalog, 2, 0, selections, 3);
    check_plan(plan, 0);
    assert_int_equal(plan->n_metrics, 2);
    assert_int_equal(plan->metrics[0].metric, 1); // in order of selection
    assert_int_equal(plan->metrics[1].metric, 0);
    assert_int_equal(plan->n_groups, 2);
    assert_string_equal(plan->groups[0].name, "two");
    plan_free(plan);
    catalog_free(catalog);
}

static void test_group_names_stay_unique_where_specs_provoke_a_clash(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    metric_of(builder, "ef", "E / F", NULL);
    group_of(builder, "Same+2", "ef");
    group_of(builder, "Same", "ab cd");
    group_of(builder, "A-very-long-name-of-a-metric-group-that-goes-on-and-on-and-on-until-it-is-cut", "ab");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 2, 0);
    check_plan(plan, 0);
    assert_string_equal(plan->groups[0].name, "same_2");
    assert_string_equal(plan->groups[1].name, "same");
    assert_string_equal(plan->groups[2].name, "same_3");
    plan_free(plan);
    const struct plan_selection selection = {2, 0};
    plan = plan_of(catalog, 2, 0, &selection, 1);
    assert_string_equal(plan->groups[0].name, "a_very_long_name_of_a_metric_group_that_goes_on_and");
    plan_free(plan);
    catalog_free(catalog);
}

static void test_a_group_is_named_after_the_first_of_equally_served_metric_groups(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "ac", "A / C", NULL);
    group_of(builder, "One", "ab");
    group_of(builder, "Two", "ac");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 4, 0);
    assert_int_equal(plan->n_groups, 1);
    assert_string_equal(plan->groups[0].name, "one");
    plan_free(plan);
    catalog_free(catalog);
}

// ---- what cannot be planned ----

static void test_what_does_not_fit_is_listed_with_the_reason(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "wide", "(A + B + FIXED_CYCLES) / C", NULL);
    metric_of(builder, "narrow", "A / B", NULL);
    metric_of(builder, "nothing", "cpu_seconds / cpu_seconds", NULL);
    group_of(builder, "All", "wide narrow nothing");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 2, 0.1);
    check_plan(plan, 0.1);
    assert_int_equal(plan->metrics[0].unit, -1);
    assert_string_equal(plan->metrics[0].reason, "needs 3 counters at once, this host has 2");
    assert_int_equal(plan->metrics[1].unit, 0);
    assert_string_equal(plan->metrics[2].reason, "its formula counts no event on this host");
    assert_int_equal(plan->level1_unit, -1);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_level_1_without_a_split_that_fits_is_not_plannable(void **state) {
    (void)state;
    const char *const parts[2][3] = {{"FIXED_CYCLES", "A", "B"}, {"FIXED_CYCLES", "C", "D"}};
    const char *const wanted = "the level-1 categories need 4 counters at once, this host has %u, and the spec has no "
                               "split that fits";
    for (size_t n_parts = 0; n_parts <= 2; n_parts += 2) {
        struct catalog_builder *builder = empty_builder();
        level1_of(builder, "4 * FIXED_CYCLES", "A / B", "C / D");
        struct fault error;
        for (size_t i = 0; i < n_parts; i++)
            assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 3, &error), 0);
        group_of(builder, "L1", "frontend_bound backend_bound");
        unsigned counters = n_parts == 0 ? 3 : 1;
        struct catalog *catalog = catalog_builder_finish(builder);
        struct plan *plan = plan_of_all(catalog, counters, 0.1);
        check_plan(plan, 0.1);
        char reason[PLAN_REASON_MAX];
        (void)snprintf(reason, sizeof reason, wanted, counters);
        assert_string_equal(plan->metrics[0].reason, reason);
        assert_string_equal(plan->metrics[1].reason, reason);
        assert_int_equal(plan->n_units, 0);
        assert_int_equal(plan->level1_unit, -1);
        plan_free(plan);
        catalog_free(catalog);
    }
}

static void test_a_metric_that_needs_an_unsupported_event_is_not_plannable(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "ac", "A / C", NULL);
    metric_of(builder, "de", "D / E", NULL);
    group_of(builder, "All", "ab ac de");
    uint8_t support[1 + EVENTS_N] = {0}; // D and E: not known
    struct catalog *catalog = catalog_builder_finish(builder);
    support[catalog_find_event(catalog, "A")] = support[catalog_find_event(catalog, "C")] = PLAN_SUPPORTED;
    support[catalog_find_event(catalog, "B")] = PLAN_UNSUPPORTED;
    const struct plan_selection selection = {0, 0};
    struct plan *plan = plan_supporting(catalog, support, 4, 0.1, &selection, 1);
    check_plan(plan, 0.1);
    assert_int_equal(plan->metrics[0].unit, -1);
    assert_string_equal(plan->metrics[0].reason, "this CPU's PMU does not support the event B");
    assert_int_equal(plan->n_groups, 1);
    expect_events(plan->groups[0].events, plan->groups[0].n_events, "A C D E");
    plan_free(plan);
    catalog_free(catalog);
}

static void test_one_unsupported_event_takes_all_level_1_categories_along(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    level1_of(builder, "4 * D", "A / FIXED_CYCLES", "B / FIXED_CYCLES");
    group_of(builder, "L1", "frontend_bound backend_bound");
    const struct plan_selection selection = {0, 0};
    static const char *const events[] = {"B", "D"}; // of one category, and of the pipeline slots
    struct catalog *catalog = catalog_builder_finish(builder);
    for (size_t i = 0; i < N_OF(events); i++) {
        uint8_t support[1 + EVENTS_N] = {0};
        support[catalog_find_event(catalog, events[i])] = PLAN_UNSUPPORTED;
        struct plan *plan = plan_supporting(catalog, support, 4, 0.1, &selection, 1);
        check_plan(plan, 0.1);
        assert_true(plan->level1_selected);
        assert_int_equal(plan->level1_unit, -1);
        for (size_t m = 0; m < 2; m++) {
            const char *reason = plan->metrics[m].reason;
            assert_int_equal(strncmp(reason, "this CPU's PMU does not support the event ", 42), 0);
            assert_string_equal(reason + 42, events[i]);
        }
        plan_free(plan);
    }
    catalog_free(catalog);
}

static void test_level_1_on_too_few_counters_is_a_composite_of_its_split(void **state) {
    (void)state;
    const char *const parts[3][3] = {{"A", "FIXED_CYCLES", "B"}, {"FIXED_CYCLES", "C"}, {"D", "FIXED_CYCLES", "A"}};
    struct catalog_builder *builder = empty_builder();
    struct fault error;
    level1_of(builder, "4 * FIXED_CYCLES", "A / B", "C / D");
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], i == 1 ? 2 : 3, &error), 0);
    metric_of(builder, "ab", "A / B", NULL);
    group_of(builder, "Other", "ab");
    group_of(builder, "L1", "frontend_bound backend_bound");
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of_all(catalog, 2, 0.1);
    check_plan(plan, 0.1);
    const struct plan_unit *unit = &plan->units[plan->level1_unit];
    assert_int_equal(unit->n_groups, 3);
    assert_int_equal(unit->reference, catalog_find_event(catalog, "FIXED_CYCLES"));
    expect_events(unit->events, unit->n_events, "FIXED_CYCLES A B C D");
    static const char *const wanted[] = {"FIXED_CYCLES A B", "FIXED_CYCLES C", "FIXED_CYCLES A D"};
    for (size_t i = 0; i < 3; i++) {
        const struct plan_group *group = &plan->groups[unit->first_group + i];
        expect_events(group->events, group->n_events, wanted[i]);
    }
    assert_int_equal(entry_ns(plan, unit->first_group == 0 ? 0 : 1), 3 * (uint64_t)SLOT_NS);
    plan_free(plan);
    plan = plan_of_all(catalog, 4, 0.1); // enough counters: no composite
    assert_int_equal(plan->units[plan->level1_unit].n_groups, 1);
    assert_int_equal(plan->units[plan->level1_unit].reference, -1);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_no_selection_is_one_idle_second(void **state) {
    (void)state;
    struct catalog *catalog = catalog_builder_finish(empty_builder());
    struct plan *plan = plan_of(catalog, 4, 0, NULL, 0);
    assert_int_equal(plan->n_units + plan->n_groups + plan->n_metrics + plan->n_windows, 0);
    assert_int_equal(plan->round_ns, 1000000000);
    assert_int_equal(plan->idle_ns, 1000000000);
    assert_int_equal(plan->n_round, 1);
    assert_int_equal(plan->level1_unit, -1);
    assert_int_equal(entry_ns(plan, 0), 1000000000);
    assert_null(plan_free(plan));
    assert_null(plan_free(NULL));
    catalog_free(catalog);
}

// A catalog with one more event and metric than a plan has room for; group Few holds `few` metrics, group Many all.
static struct catalog *wide_catalog(unsigned few) {
    struct catalog_builder *builder = empty_builder();
    struct fault error;
    const char *names[PLAN_GROUP_EVENTS_MAX + 1];
    for (unsigned i = 0; i < N_OF(names); i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "X%u", i);
        assert_true(catalog_builder_add_event(builder, name, "", 0, &error) > 0);
        metric_of(builder, name, name, NULL);
    }
    for (unsigned i = 0; i < N_OF(names); i++)
        names[i] = catalog_builder_catalog(builder)->metrics[i].name;
    assert_int_equal(catalog_builder_add_group(builder, "Few", "", "", names, few, &error), 0);
    assert_int_equal(catalog_builder_add_group(builder, "Many", "", "", names, N_OF(names), &error), 1);
    return catalog_builder_finish(builder);
}

static void refuse_plan(const struct catalog *catalog, unsigned group, unsigned counters) {
    const struct plan_selection selection = {.group = group};
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = counters,
                                         .selections = &selection,
                                         .n_selections = 1,
                                         .slot_ns = SLOT_NS,
                                         .idle = 0.1};
    struct plan *const untouched = (struct plan *)(void *)&untouched, *plan = untouched;
    assert_int_equal(plan_new(&request, &plan), -E2BIG);
    assert_ptr_equal(plan, untouched);
}

static void test_more_events_than_a_plan_can_hold_are_refused(void **state) {
    (void)state;
    struct catalog *catalog = wide_catalog(PLAN_GROUP_EVENTS_MAX);
    refuse_plan(catalog, 1, 0);
    struct plan *plan = plan_of(catalog, 0, 0.1, &(struct plan_selection){.group = 0}, 1);
    assert_int_equal(plan->groups[0].n_events, PLAN_GROUP_EVENTS_MAX);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_more_units_than_a_plan_can_hold_are_refused(void **state) {
    (void)state;
    struct catalog *catalog = wide_catalog(PLAN_UNITS_MAX + 1);
    refuse_plan(catalog, 0, 1); // one event group for each metric
    catalog_free(catalog);
    catalog = wide_catalog(PLAN_UNITS_MAX);
    struct plan *plan = plan_of(catalog, 1, 0.1, &(struct plan_selection){.group = 0}, 1);
    assert_int_equal(plan->n_units, PLAN_UNITS_MAX);
    plan_free(plan);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_plans_obey_every_rule),
        cmocka_unit_test(test_a_metrics_events_are_in_one_group_and_groups_are_few),
        cmocka_unit_test(test_a_metric_of_others_counts_needs_no_counters_here),
        cmocka_unit_test(test_the_level_1_categories_are_one_unit),
        cmocka_unit_test(test_one_selected_category_brings_the_events_of_all),
        cmocka_unit_test(test_a_metric_in_two_selected_groups_appears_once),
        cmocka_unit_test(test_group_names_stay_unique_where_specs_provoke_a_clash),
        cmocka_unit_test(test_a_group_is_named_after_the_first_of_equally_served_metric_groups),
        cmocka_unit_test(test_what_does_not_fit_is_listed_with_the_reason),
        cmocka_unit_test(test_level_1_without_a_split_that_fits_is_not_plannable),
        cmocka_unit_test(test_a_metric_that_needs_an_unsupported_event_is_not_plannable),
        cmocka_unit_test(test_one_unsupported_event_takes_all_level_1_categories_along),
        cmocka_unit_test(test_level_1_on_too_few_counters_is_a_composite_of_its_split),
        cmocka_unit_test(test_no_selection_is_one_idle_second),
        cmocka_unit_test(test_more_events_than_a_plan_can_hold_are_refused),
        cmocka_unit_test(test_more_units_than_a_plan_can_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
