// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "config/spec/spec_json.h"

// How event groups fill a round, in which order, and the plans of the shipped Neoverse V2.

// A catalog whose group L1 holds level 1 and whose group Others holds `n` metrics that share no event.
static struct catalog *level1_and_others(unsigned n) {
    static const char *const formulas[] = {"C / D", "E / F", "G / H", "I / J"};
    struct catalog_builder *builder = empty_builder();
    char metrics[64] = "";
    level1_of(builder, "4 * FIXED_CYCLES", "100 * A / (4 * FIXED_CYCLES)", "100 * B / (4 * FIXED_CYCLES)");
    group_of(builder, "L1", "frontend_bound backend_bound");
    assert_true(n <= N_OF(formulas));
    for (unsigned i = 0; i < n; i++) {
        char name[] = {'m', (char)('0' + i), '\0'};
        metric_of(builder, name, formulas[i], NULL);
        strcat(strcat(metrics, i > 0 ? " " : ""), name);
    }
    if (n > 0)
        group_of(builder, "Others", metrics);
    return catalog_builder_finish(builder);
}

static double level1_share_of_round(const struct plan *plan) {
    const struct plan_unit *unit = &plan->units[plan->level1_unit];
    return (double)(unit->slots * unit->n_groups * plan->slot_ns) / (double)plan->round_ns;
}

static void test_the_idle_slot_is_its_share_to_the_nanosecond(void **state) {
    (void)state;
    struct catalog *catalog = level1_and_others(2);
    struct plan *plan = plan_of_all(catalog, 2, 0); // three slots, twice
    assert_int_equal(plan->idle_ns, 0);
    assert_int_equal(plan->round_ns, 1200000000);
    assert_int_equal(plan->n_round, 6);
    plan_free(plan);
    plan = plan_of_all(catalog, 2, 0.1);        // level 1 needs two slots now: four slots, twice
    assert_int_equal(plan->idle_ns, 177777778); // 1.6 s / 9
    assert_int_equal(plan->round_ns, 1777777778);
    assert_int_equal(plan->n_round, 9);
    plan_free(plan);
    plan = plan_of_all(catalog, 2, 0.5);
    assert_int_equal(plan->idle_ns, 1600000000);
    assert_int_equal(plan->round_ns, 3200000000);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_a_round_is_at_least_a_second_and_no_longer_than_it_must_be(void **state) {
    (void)state;
    struct catalog *catalog = level1_and_others(4);
    static const uint64_t slots_ns[] = {1000000, 10000000, 33333333, 99999999, 166666667, 200000000, 3000000000};
    for (size_t i = 0; i < N_OF(slots_ns); i++) {
        const struct plan_selection selections[] = {{0, 1}, {1, 1}}; // 5 slots
        const struct plan_request request = {.catalog = catalog,
                                             .general_counters = 2,
                                             .selections = selections,
                                             .n_selections = 2,
                                             .slot_ns = slots_ns[i]};
        struct plan *plan = build_plan(&request);
        check_plan(plan, 0);
        assert_true(plan->round_ns == 5 * slots_ns[i] || plan->round_ns < 1000000000 + 5 * slots_ns[i]);
        plan_free(plan);
    }
    catalog_free(catalog);
}

static void test_level_1_gets_a_third_of_the_round_by_default(void **state) {
    (void)state;
    static const double idles[] = {0, 0.1, 0.2, 0.3};
    for (unsigned others = 0; others <= 4; others++) {
        struct catalog *catalog = level1_and_others(others);
        for (size_t i = 0; i < N_OF(idles); i++) {
            struct plan *plan = plan_of_all(catalog, 2, idles[i]);
            check_plan(plan, idles[i]);
            assert_true(level1_share_of_round(plan) >= 1.0 / 3 - 1e-9);
            for (size_t u = 1; u < plan->n_units; u++)
                assert_int_equal(plan->units[u].slots, plan->units[1].slots);
            plan_free(plan);
        }
        catalog_free(catalog);
    }
}

static void test_level_1_gets_no_more_than_half_of_the_slots_by_default(void **state) {
    (void)state;
    struct catalog *catalog = level1_and_others(4);
    static const double idles[] = {0.4, 0.8}; // a third of the round would be 5 of 9 slots, or more than there are
    for (size_t i = 0; i < N_OF(idles); i++) {
        struct plan *plan = plan_of_all(catalog, 2, idles[i]);
        assert_int_equal(plan->units[0].slots, 4);
        assert_int_equal(plan->n_windows, 8);
        plan_free(plan);
    }
    struct plan *plan = plan_of_all(catalog, 2, 0);
    assert_int_equal(plan->units[0].slots, 2); // of 6: a third exactly
    assert_int_equal(plan->n_windows, 6);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_a_users_weight_counts_even_where_level_1_gets_less_than_a_third(void **state) {
    (void)state;
    struct catalog *catalog = level1_and_others(2);
    const struct plan_selection selections[] = {{0, 1}, {1, 7}};
    struct plan *plan = plan_of(catalog, 2, 0.1, selections, 2);
    check_plan(plan, 0.1);
    assert_int_equal(plan->n_units, 3);
    assert_int_equal(plan->units[0].slots, 1);
    assert_int_equal(plan->units[1].slots, 7);
    assert_int_equal(plan->units[2].slots, 7);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_another_groups_weight_in_level_1s_event_group_leaves_level_1_its_third(void **state) {
    (void)state;
    struct catalog *catalog = level1_and_others(4);
    const struct plan_selection light[] = {{0, 0}, {1, 1}}, heavy[] = {{0, 0}, {1, 9}}, own[] = {{0, 1}, {1, 2}};
    // 4 counters: A, B and the first of the others are one event group, C to H; the other three need 2 groups
    struct plan *plan = plan_of(catalog, 4, 0.1, light, 2);
    check_plan(plan, 0.1);
    assert_int_equal(plan->n_units, 3);
    assert_int_equal(plan->metrics[2].unit, plan->level1_unit); // they share
    assert_true(level1_share_of_round(plan) >= 1.0 / 3 - 1e-9);
    assert_int_equal(plan->units[0].slots, 2 * plan->units[1].slots); // 2 of 4 slots: with 1 of 3 it is 30 %
    plan_free(plan);
    plan = plan_of(catalog, 4, 0.1, heavy, 2); // 9 slots for each are no third for level 1 either: 9 of 27, less idle
    assert_true(level1_share_of_round(plan) >= 1.0 / 3 - 1e-9);
    assert_int_equal(plan->units[1].slots, 9);
    assert_int_equal(plan->units[0].slots, 11);
    plan_free(plan);
    plan = plan_of(catalog, 4, 0.1, own, 2); // its own weight is there, and the greater one of the event group counts
    assert_int_equal(plan->units[0].slots, plan->units[1].slots);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_the_greater_weight_of_a_metric_selected_twice_counts(void **state) {
    (void)state;
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    group_of(builder, "One", "ab cd");
    group_of(builder, "Two", "cd");
    const struct plan_selection one[] = {{0, 5}, {1, 9}}, other[] = {{0, 0}, {1, 6}};
    struct catalog *catalog = catalog_builder_finish(builder);
    struct plan *plan = plan_of(catalog, 2, 0, one, 2);
    assert_int_equal(plan->units[plan->metrics[0].unit].slots, 5);
    assert_int_equal(plan->units[plan->metrics[1].unit].slots, 9);
    plan_free(plan);
    plan = plan_of(catalog, 2, 0, other, 2);
    assert_int_equal(plan->units[plan->metrics[0].unit].slots, 1);
    assert_int_equal(plan->units[plan->metrics[1].unit].slots, 6);
    plan_free(plan);
    plan = plan_of(catalog, 4, 0, other, 2); // one event group for both
    assert_int_equal(plan->n_units, 1);
    assert_int_equal(plan->units[0].slots, 6);
    plan_free(plan);
    catalog_free(catalog);
}

// ---- the shipped Neoverse V2 ----

static struct catalog *neoverse_v2(void) {
    static struct errors errors;
    struct catalog *catalog = NULL;
    if (spec_json_load("specs/neoverse-v2.json", NULL, &errors, &catalog) != 0)
        fail_msg("%s", errors.items[0].text);
    return catalog;
}

static struct plan *default_plan(const struct catalog *catalog, unsigned counters) {
    static const char *const names[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
    struct plan_selection selections[N_OF(names)] = {0};
    for (size_t i = 0; i < N_OF(names); i++) {
        int group = catalog_find_group(catalog, names[i]);
        assert_true(group >= 0);
        selections[i].group = (unsigned)group;
    }
    struct plan *plan = plan_of(catalog, counters, 0.1, selections, N_OF(names));
    check_plan(plan, 0.1);
    return plan;
}

// Metrics that a unit counts. All others are bounds of actions, which are made of these.
static size_t count_counted(const struct plan *plan) {
    size_t n = 0;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        assert_true(plan->metrics[i].unit >= 0 || plan->metrics[i].unit == PLAN_COMBINED);
        n += plan->metrics[i].unit >= 0;
    }
    return n;
}

static void test_neoverse_v2_on_6_counters_takes_5_event_groups(void **state) {
    (void)state;
    struct catalog *catalog = neoverse_v2();
    struct plan *plan = default_plan(catalog, 6);
    assert_int_equal(count_counted(plan), 25); // 4 + 1 + 10 + 10
    assert_int_equal(plan->n_groups, 5); // of 6 + 19 events that need a counter
    assert_int_equal(plan->n_units, 5);
    assert_int_equal(plan->units[plan->level1_unit].n_groups, 1);
    assert_true(level1_share_of_round(plan) >= 1.0 / 3);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_neoverse_v2_on_2_counters_is_a_composite(void **state) {
    (void)state;
    struct catalog *catalog = neoverse_v2();
    struct plan *plan = default_plan(catalog, 2);
    assert_int_equal(count_counted(plan), 25);
    const struct plan_unit *unit = &plan->units[plan->level1_unit];
    assert_int_equal(unit->n_groups, 3);
    assert_int_equal(unit->reference, catalog_find_event(catalog, "CPU_CYCLES"));
    assert_int_equal(plan->n_units, 21); // level 1, and each of the 20 pairs of MPKI and Miss_Ratio alone
    assert_true(level1_share_of_round(plan) >= 1.0 / 3);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_neoverse_v2_with_more_counters_takes_fewer_event_groups(void **state) {
    (void)state;
    struct catalog *catalog = neoverse_v2();
    struct plan *plan = default_plan(catalog, 20);
    assert_int_equal(plan->n_groups, 2);
    plan_free(plan);
    plan = default_plan(catalog, 0);
    assert_int_equal(plan->n_groups, 1);
    plan_free(plan);
    catalog_free(catalog);
}

static void test_neoverse_v2_on_1_counter_keeps_what_fits(void **state) {
    (void)state;
    struct catalog *catalog = neoverse_v2();
    struct plan *plan = default_plan(catalog, 1);
    for (size_t i = 0; i < plan->n_metrics; i++) {
        bool is_ipc = strcmp(catalog->metrics[plan->metrics[i].metric].name, "ipc") == 0;
        assert_int_equal(plan->metrics[i].unit, is_ipc ? 0 : -1); // INST_RETIRED beside the cycle counter
    }
    assert_int_equal(plan->n_units, 1);
    plan_free(plan);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_idle_slot_is_its_share_to_the_nanosecond),
        cmocka_unit_test(test_a_round_is_at_least_a_second_and_no_longer_than_it_must_be),
        cmocka_unit_test(test_level_1_gets_a_third_of_the_round_by_default),
        cmocka_unit_test(test_level_1_gets_no_more_than_half_of_the_slots_by_default),
        cmocka_unit_test(test_a_users_weight_counts_even_where_level_1_gets_less_than_a_third),
        cmocka_unit_test(test_another_groups_weight_in_level_1s_event_group_leaves_level_1_its_third),
        cmocka_unit_test(test_the_greater_weight_of_a_metric_selected_twice_counts),
        cmocka_unit_test(test_neoverse_v2_on_6_counters_takes_5_event_groups),
        cmocka_unit_test(test_neoverse_v2_on_2_counters_is_a_composite),
        cmocka_unit_test(test_neoverse_v2_with_more_counters_takes_fewer_event_groups),
        cmocka_unit_test(test_neoverse_v2_on_1_counter_keeps_what_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
