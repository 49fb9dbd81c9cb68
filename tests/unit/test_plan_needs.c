// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

// Plans of events with special counter needs: no event group that could never run, and messages with the reason.

enum { NEEDS_N = EVENTS_N + 1, CYCLES = 1, A, B, C, D, E, F };

struct host {
    struct catalog_builder *builder; // until the plan is made
    struct catalog *catalog;
    struct event_need needs[NEEDS_N]; // put into the catalog when the plan is made
    struct plan_request request;
};

// Four counters, cycles on a fixed one; each metric is a group of its own.
static void host_init(struct host *host) {
    *host = (struct host){.builder = empty_builder()};
    for (size_t e = 0; e < NEEDS_N; e++)
        host->needs[e].fixed = e == CYCLES ? 1 : -1;
    host->request = (struct plan_request){.general_counters = 4, .slot_ns = SLOT_NS, .idle = 0.1};
}

static struct plan *plan_host(struct host *host) {
    host->request.catalog = host->catalog = catalog_builder_finish(host->builder);
    for (size_t e = 1; e < NEEDS_N; e++)
        host->catalog->events[e].need = host->needs[e];
    struct plan *plan = build_plan(&host->request);
    check_plan(plan, 0.1);
    return plan;
}

static void expect_reason(struct host *host, const char *formula, const char *wanted) {
    metric_of(host->builder, "m", formula, NULL);
    group_of(host->builder, "All", "m");
    struct plan *plan = plan_host(host);
    assert_string_equal(plan->metrics[0].reason, wanted);
    assert_int_equal(plan->n_groups, wanted[0] == '\0');
    plan_free(plan);
    catalog_free(host->catalog);
}

static void test_a_metric_of_three_events_for_two_counters_says_so(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    host.needs[A].counters = host.needs[B].counters = host.needs[C].counters = 0x3;
    expect_reason(&host, "(A + B) / C", "needs 3 of the 2 counters that can count A, B and C");
    host_init(&host);
    host.needs[A].counters = host.needs[B].counters = 0x3;
    expect_reason(&host, "(A + B) / C", "");
}

static void test_a_metric_of_many_such_events_names_three(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    host.needs[A].counters = host.needs[B].counters = host.needs[C].counters = host.needs[D].counters = 0x7;
    expect_reason(&host, "(A + B) / (C + D)", "needs 4 of the 3 counters that can count A, B, C and others");
}

static void test_a_metric_of_two_values_of_one_register_names_the_register(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    assert_int_equal(catalog_builder_add_register(host.builder, "offcore_rsp", 1, &(struct fault){0}), 0);
    host.needs[A] = (struct event_need){.fixed = -1, .reg = 1, .reg_value = 0x2011};
    host.needs[B] = (struct event_need){.fixed = -1, .reg = 1, .reg_value = 0x4011};
    expect_reason(&host, "A / (B + FIXED_CYCLES)", "needs 2 values of offcore_rsp at once (A and B), the CPU holds 1");
}

static void test_events_that_take_two_counters_are_counted_twice(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    host.needs[A].takes = host.needs[B].takes = 2;
    expect_reason(&host, "(A + B) / C", "needs 5 counters at once, this host has 4");
    host_init(&host);
    host.needs[A].takes = 2;
    host.needs[B].counters = 0x2;
    host.needs[C].counters = 0x4;
    expect_reason(&host, "A / (B + C)", "needs neighbouring counters for A, B and C that are not free at once");
}

static void test_with_the_watchdog_on_a_metric_of_cycles_may_no_longer_fit(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    expect_reason(&host, "(A + B + C + D) / FIXED_CYCLES", "");
    host_init(&host);
    assert_int_equal(catalog_builder_set_watchdog(host.builder, "FIXED_CYCLES", &(struct fault){0}), 0);
    host.request.nmi_watchdog = true;
    expect_reason(&host, "(A + B + C + D) / FIXED_CYCLES", "needs 5 counters at once, this host has 4");
}

static void test_metrics_that_collide_take_turns(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    assert_int_equal(catalog_builder_add_register(host.builder, "offcore_rsp", 1, &(struct fault){0}), 0);
    host.needs[A] = (struct event_need){.fixed = -1, .reg = 1, .reg_value = 0x2011};
    host.needs[B] = (struct event_need){.fixed = -1, .reg = 1, .reg_value = 0x4011};
    host.needs[C].counters = host.needs[D].counters = host.needs[E].counters = 0x1;
    metric_of(host.builder, "a", "A / FIXED_CYCLES", NULL);
    metric_of(host.builder, "b", "B / FIXED_CYCLES", NULL);
    metric_of(host.builder, "c", "C / FIXED_CYCLES", NULL);
    metric_of(host.builder, "d", "D / FIXED_CYCLES", NULL);
    metric_of(host.builder, "e", "E / FIXED_CYCLES", NULL);
    group_of(host.builder, "All", "a b c d e");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->n_groups, 3); // one each of C, D and E, and A and B in two of them
    for (size_t m = 0; m < 5; m++)
        assert_true(plan->metrics[m].unit >= 0);
    assert_int_not_equal(plan->metrics[0].unit, plan->metrics[1].unit);
    plan_free(plan);
    catalog_free(host.catalog);
}

// Level 1 is measured in parts where its events collide, though the counters are many.
static void test_level_1_that_collides_is_measured_in_parts(void **state) {
    (void)state;
    const char *const parts[2][2] = {{"FIXED_CYCLES", "A"}, {"FIXED_CYCLES", "B"}};
    struct host host;
    struct fault error;
    host_init(&host);
    host.needs[A].counters = host.needs[B].counters = 0x8;
    level1_of(host.builder, "4 * FIXED_CYCLES", "A / FIXED_CYCLES", "B / FIXED_CYCLES");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(catalog_builder_add_part(host.builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    group_of(host.builder, "L1", "frontend_bound backend_bound");
    struct plan *plan = plan_host(&host);
    assert_int_equal(plan->units[plan->level1_unit].n_groups, 2);
    plan_free(plan);
    catalog_free(host.catalog);
}

static void test_level_1_that_collides_and_cannot_be_parted_says_so(void **state) {
    (void)state;
    struct host host;
    host_init(&host);
    host.needs[A].counters = host.needs[B].counters = 0x8;
    level1_of(host.builder, "4 * FIXED_CYCLES", "A / FIXED_CYCLES", "B / FIXED_CYCLES");
    group_of(host.builder, "L1", "frontend_bound backend_bound");
    struct plan *plan = plan_host(&host);
    assert_string_equal(plan->metrics[0].reason, "the level-1 categories need 2 of the 1 counter that can count A and "
                                                 "B, and the spec has no split that fits");
    plan_free(plan);
    catalog_free(host.catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_metric_of_three_events_for_two_counters_says_so),
        cmocka_unit_test(test_a_metric_of_many_such_events_names_three),
        cmocka_unit_test(test_a_metric_of_two_values_of_one_register_names_the_register),
        cmocka_unit_test(test_events_that_take_two_counters_are_counted_twice),
        cmocka_unit_test(test_with_the_watchdog_on_a_metric_of_cycles_may_no_longer_fit),
        cmocka_unit_test(test_metrics_that_collide_take_turns),
        cmocka_unit_test(test_level_1_that_collides_is_measured_in_parts),
        cmocka_unit_test(test_level_1_that_collides_and_cannot_be_parted_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
