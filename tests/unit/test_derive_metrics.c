// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/derive_host.h"

// Metrics of metrics, time and whole cores, from readings made by hand.

// ---- metrics of metrics ----

// part and other take turns; combined needs both, mixed all and a window of its own.
static void combined_init(struct host *host) {
    host_init(host, plain_builder());
    metric_of(host->builder, "part", "A / CYCLES", NULL);
    metric_of(host->builder, "other", "B / CYCLES", NULL);
    metric_of(host->builder, "combined", "part * other", NULL);
    metric_of(host->builder, "mixed", "combined * C / D", NULL);
    group_of(host->builder, "G", "mixed");
}

static const uint64_t FIRST[] = {0, 100, 50, 20, 6, 3}, SECOND[] = {0, 300, 30, 90, 12, 4};

static void test_a_combined_value_is_of_the_scopes_own_sums(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host_start(&host, 2);
    assert_int_equal(host.layout->plan->n_groups, 3);
    windows_of(&host, 0, FIRST);
    windows_of(&host, 1, SECOND);
    end_round(&host, 3);
    const double first = 0.5 * 0.2, second = 0.1 * 0.3, all = (80.0 / 400) * (110.0 / 400);
    expect(&host, cpu_scope(&host, 0), "combined", first);
    expect(&host, cpu_scope(&host, 1), "combined", second);
    expect(&host, snapshot_scope_socket(0), "combined", first);
    expect(&host, snapshot_scope_socket(1), "combined", second);
    expect(&host, 0, "combined", all); // not the mean of the two, 0.065
    expect(&host, cpu_scope(&host, 0), "mixed", first * 2);
    expect(&host, cpu_scope(&host, 1), "mixed", second * 3);
    expect(&host, 0, "mixed", all * 18 / 7);
    host_deinit(&host);
}

static void test_without_a_part_there_is_no_whole_and_the_reason_is_the_parts(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host_start(&host, 2);
    windows_of(&host, 0, FIRST);
    (void)window_of(&host, 1, group_with(&host, A), SECOND);
    fail_window(window_of(&host, 1, group_with(&host, B), SECOND), WINDOW_STARVED, 0);
    (void)window_of(&host, 1, group_with(&host, C), SECOND);
    end_round(&host, 3);
    expect(&host, cpu_scope(&host, 1), "part", 0.1);
    expect_absent(&host, cpu_scope(&host, 1), "other", ABSENT_STARVED);
    expect_absent(&host, cpu_scope(&host, 1), "combined", ABSENT_STARVED);
    expect_absent(&host, cpu_scope(&host, 1), "mixed", ABSENT_STARVED);
    expect(&host, cpu_scope(&host, 0), "combined", 0.1);
    expect(&host, 0, "combined", 80.0 / 400 * 20 / 100); // other: of the CPU that has it
    host_deinit(&host);
}

static void test_what_divides_by_zero_may_not_be_needed(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_builder());
    metric_of(host.builder, "never", "C / D", NULL);
    metric_of(host.builder, "part", "A / CYCLES", NULL);
    metric_of(host.builder, "choice", "never if part > 10 else part", NULL);
    metric_of(host.builder, "sum", "never + part", NULL);
    group_of(host.builder, "G", "choice sum");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "never", ABSENT_UNDEFINED);
    expect(&host, 0, "choice", 0.5);
    expect_absent(&host, 0, "sum", ABSENT_UNDEFINED);
    host_deinit(&host);
}

static void test_the_larger_of_no_value_and_zero_is_no_value(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_builder());
    metric_of(host.builder, "never", "C / D", NULL);
    metric_of(host.builder, "part", "A / CYCLES", NULL);
    metric_of(host.builder, "rest", "max(1 - (never + part), 0)", NULL);
    metric_of(host.builder, "least", "min(never, part)", NULL);
    metric_of(host.builder, "most", "max(0, part)", NULL);
    group_of(host.builder, "G", "rest least most");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "rest", ABSENT_UNDEFINED);
    expect_absent(&host, 0, "least", ABSENT_UNDEFINED);
    expect(&host, 0, "most", 0.5);
    host_deinit(&host);
}

static void test_a_condition_without_a_value_gives_none(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_builder());
    metric_of(host.builder, "never", "C / D", NULL);
    metric_of(host.builder, "part", "A / CYCLES", NULL);
    metric_of(host.builder, "likely", "100 * part if never < 0.5 else 0", NULL);
    metric_of(host.builder, "above", "never > 0.1", NULL);
    metric_of(host.builder, "both", "(never > 0.1) & (part > 0.6)", NULL);
    metric_of(host.builder, "either", "part if never < 0.5 else part", NULL);
    group_of(host.builder, "G", "likely above both either");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "likely", ABSENT_UNDEFINED);
    expect_absent(&host, 0, "above", ABSENT_UNDEFINED);
    expect(&host, 0, "both", 0);
    expect(&host, 0, "either", 0.5);
    host_deinit(&host);
}

static void test_what_needs_a_stalled_metric_is_stalled(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host.support[B] = PLAN_SUPPORT_UNKNOWN;
    must_count(&host, B);
    host_start(&host, 2);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 6, 3});
    end_round(&host, 3);
    expect(&host, 0, "part", 0.5);
    expect_absent(&host, 0, "other", ABSENT_STALLED);
    expect_absent(&host, 0, "combined", ABSENT_STALLED);
    expect_absent(&host, 0, "mixed", ABSENT_STALLED);
    // other and mixed, of three with events
    near("stalled", host.snapshot->values[snapshot_uncovered(host.layout, cpu_scope(&host, 0), UNCOVERED_STALLED)], 2);
    windows_of(&host, 0, FIRST);
    end_round(&host, 3);
    expect(&host, 0, "mixed", 0.2);
    host_deinit(&host);
}

// B must count and does not: something filters, so C's 0 is not believed, but D's, which the PMU promises to count.
static void test_beside_an_event_that_must_count_and_does_not_no_zero_is_believed(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_builder());
    metric_of(host.builder, "whole", "B / CYCLES", NULL);
    metric_of(host.builder, "rare", "C / CYCLES", NULL);
    metric_of(host.builder, "promised", "D / CYCLES", NULL);
    metric_of(host.builder, "sum", "rare + promised", NULL);
    group_of(host.builder, "G", "whole rare promised sum");
    host.support[B] = host.support[C] = PLAN_SUPPORT_UNKNOWN;
    must_count(&host, B);
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 1000000, 0, 0, 0, 0});
    end_round(&host, 1);
    expect_absent(&host, 0, "whole", ABSENT_STALLED);
    expect_absent(&host, 0, "rare", ABSENT_FILTERED);
    expect_absent(&host, 0, "sum", ABSENT_FILTERED);
    expect(&host, 0, "promised", 0);
    windows_of(&host, 0, (const uint64_t[]){0, 1000000, 0, 10000, 0, 0}); // of which one count ends the doubt
    end_round(&host, 1);
    expect(&host, 0, "rare", 0);
    expect(&host, 0, "whole", 0.01);
    expect(&host, 0, "sum", 0);
    host_deinit(&host);
}

static void test_without_an_event_that_must_count_each_zero_is_a_zero(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host.support[A] = host.support[B] = host.support[C] = PLAN_SUPPORT_UNKNOWN;
    host_start(&host, 2);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 0, 0, 0, 3});
    end_round(&host, 3);
    expect(&host, 0, "part", 0);
    expect(&host, 0, "other", 0);
    expect(&host, 0, "mixed", 0);
    assert_true(host.snapshot->values[snapshot_uncovered(host.layout, 0, UNCOVERED_STALLED)] == 0);
    host_deinit(&host);
}

static void test_a_metric_that_is_not_plannable_takes_those_that_need_it_along(void **state) {
    (void)state;
    struct host host;
    combined_init(&host);
    host.support[B] = PLAN_UNSUPPORTED;
    host_start(&host, 2);
    end_round(&host, 1);
    expect_absent(&host, 0, "mixed", ABSENT_NOT_PLANNABLE);
    expect_absent(&host, 0, "combined", ABSENT_NOT_PLANNABLE);
    host_deinit(&host);
}

// ---- time, and whole cores ----

static void test_time_passes_once_for_all_cpus(void **state) {
    (void)state;
    struct host host;
    host_init(&host, plain_builder());
    metric_of(host.builder, "rate", "A / duration_time", NULL);
    metric_of(host.builder, "share", "A / CYCLES", NULL);
    metric_of(host.builder, "busy", "share * cpu_seconds / duration_time", NULL);
    group_of(host.builder, "G", "rate busy");
    host_start(&host, 4);
    windows_of(&host, 0, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    windows_of(&host, 1, (const uint64_t[]){0, 100, 50, 0, 0, 0});
    end_round(&host, 2); // a second of two was counted
    expect(&host, 0, "rate", 100);
    expect(&host, cpu_scope(&host, 1), "rate", 50);
    expect(&host, 0, "busy", 0.5 * 2);
    expect(&host, snapshot_scope_socket(1), "busy", 0.5);
    expect(&host, cpu_scope(&host, 0), "busy", 0.5);
    size_t m = metric_place(&host, "rate");
    assert_true(isnan(host.snapshot->values[snapshot_numerator(host.layout, 0, m)]));
    assert_true(isnan(host.snapshot->values[snapshot_denominator(host.layout, 0, m)]));
    host_deinit(&host);
}

static void wide_start(struct host *host, bool split) {
    host_init(host, plain_builder());
    host->split = split;
    metric_of(host->builder, "wide", "A / CYCLES if #core_wide < 1 else B / CYCLES", NULL);
    group_of(host->builder, "G", "wide");
    host_start(host, 4);
    windows_of(host, 0, FIRST);
    windows_of(host, 1, SECOND);
    end_round(host, 1);
}

static void test_a_sum_without_a_sibling_is_not_core_wide(void **state) {
    (void)state;
    struct host whole, split;
    wide_start(&whole, false);
    wide_start(&split, true); // CPU 1 has a sibling that is not measured
    size_t first = snapshot_scope_socket(0), second = snapshot_scope_socket(1);
    size_t m = metric_place(&whole, "wide"), n = metric_place(&split, "wide");
    double by_b = whole.snapshot->values[snapshot_metric(whole.layout, second, m)];
    double by_a = split.snapshot->values[snapshot_metric(split.layout, second, n)];
    assert_true(by_a == whole.snapshot->values[snapshot_metric(whole.layout, cpu_scope(&whole, 1), m)]);
    assert_true(by_a != by_b);
    assert_true(whole.snapshot->values[snapshot_metric(whole.layout, first, m)] ==
                split.snapshot->values[snapshot_metric(split.layout, first, n)]);
    assert_true(whole.snapshot->values[snapshot_metric(whole.layout, 0, m)] !=
                split.snapshot->values[snapshot_metric(split.layout, 0, n)]);
    host_deinit(&split);
    host_deinit(&whole);
}

// If its sibling is not measured, a socket's only CPU has the socket's formula, and so the same error bar.
static void test_error_bars_know_sums_without_a_sibling(void **state) {
    (void)state;
    struct host hosts[2];
    double errors[2][2]; // of the CPU and of its socket
    for (int split = 0; split < 2; split++) {
        struct host *host = &hosts[split];
        wide_start(host, split);
        for (int round = 0; round < 3; round++) {
            windows_of(host, 1, round % 2 ? SECOND : FIRST);
            end_round(host, 3); // a third of it was counted
        }
        size_t m = metric_place(host, "wide");
        errors[split][0] = host->snapshot->values[snapshot_standard_error(host->layout, cpu_scope(host, 1), m)];
        errors[split][1] = host->snapshot->values[snapshot_standard_error(host->layout, snapshot_scope_socket(1), m)];
        host_deinit(host);
    }
    assert_true(errors[1][0] > 0 && errors[1][0] == errors[0][0]);
    assert_true(errors[1][1] == errors[1][0]);
    assert_true(errors[0][1] > 0 && errors[0][1] != errors[0][0]);
}

static void test_core_wide_holds_for_sums_and_not_for_one_cpu(void **state) {
    (void)state;
    struct host host;
    wide_start(&host, false);
    expect(&host, cpu_scope(&host, 0), "wide", 0.5);
    expect(&host, cpu_scope(&host, 1), "wide", 0.1);
    expect(&host, snapshot_scope_socket(1), "wide", 0.3);
    expect(&host, 0, "wide", 110.0 / 400);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_combined_value_is_of_the_scopes_own_sums),
        cmocka_unit_test(test_without_a_part_there_is_no_whole_and_the_reason_is_the_parts),
        cmocka_unit_test(test_what_divides_by_zero_may_not_be_needed),
        cmocka_unit_test(test_the_larger_of_no_value_and_zero_is_no_value),
        cmocka_unit_test(test_a_condition_without_a_value_gives_none),
        cmocka_unit_test(test_what_needs_a_stalled_metric_is_stalled),
        cmocka_unit_test(test_beside_an_event_that_must_count_and_does_not_no_zero_is_believed),
        cmocka_unit_test(test_without_an_event_that_must_count_each_zero_is_a_zero),
        cmocka_unit_test(test_a_metric_that_is_not_plannable_takes_those_that_need_it_along),
        cmocka_unit_test(test_time_passes_once_for_all_cpus),
        cmocka_unit_test(test_a_sum_without_a_sibling_is_not_core_wide),
        cmocka_unit_test(test_error_bars_know_sums_without_a_sibling),
        cmocka_unit_test(test_core_wide_holds_for_sums_and_not_for_one_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
