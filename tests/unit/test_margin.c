// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/history/margin.h"
#include "history_past.h"

// How uncertain a step is: in one byte, never narrower than it was, and that of the rounds in the step.

static const double CODE = 1.0443; // 2^(1/16), and a little

static void test_a_margin_comes_back_as_wide_or_a_little_wider(void **state) {
    (void)state;
    for (double margin = 7e-5; margin < 3; margin *= 1.013) {
        double back = margin_decode(margin_encode(margin));
        assert_true(back >= margin * (1 - 1e-9) && back <= margin * CODE);
    }
    assert_true(isnan(margin_decode(margin_encode(NAN))));
    assert_true(margin_decode(margin_encode(0)) == 0);
    assert_true(margin_decode(margin_encode(1e-12)) > 0);
    assert_true(margin_decode(margin_encode(INFINITY)) > 3);
}

static void set_interval(struct past *past, const char *metric, double gauge, double half) {
    size_t place = host_metric(&past->host, metric);
    set_gauge(past, 0, metric, gauge);
    past->snapshot->values[snapshot_low(past->host.layout, 0, place)] = gauge - half;
    past->snapshot->values[snapshot_high(past->host.layout, 0, place)] = gauge + half;
}

// Of the metric in the step that is `ago` steps before the last one.
static double margin(const struct past *past, const char *metric, bool coarse, size_t ago) {
    struct steps_range range = history_range(past->history, coarse);
    int64_t step = range.first + (int64_t)(range.n - 1 - ago);
    double of, result;
    history_read(past->history, HISTORY_HOST, metric, coarse, step, 1, &of);
    history_read_margins(past->history, HISTORY_HOST, metric, coarse, step, 1, &of, &result);
    return result;
}

static bool is_as(double margin, double wanted) { return margin >= wanted * 0.9999 && margin <= wanted * CODE; }

static void set_round(struct past *past, double begun, double ended) {
    past->snapshot->values[snapshot_gauges_begun(past->host.layout)] = begun;
    past->snapshot->values[snapshot_gauges_ended(past->host.layout)] = ended;
}

static void test_a_step_has_the_interval_of_its_rounds(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_round(&past, 2, 0);
    set_interval(&past, "odd", 10, 1);
    take_after(&past, 1);
    assert_true(is_as(margin(&past, "odd", false, 0), 1));
    assert_true(is_as(margin(&past, "odd", true, 0), 1));
    set_interval(&past, "odd", 10, 3);
    take_after(&past, 2); // the root of the mean of 1 and 9
    assert_true(is_as(margin(&past, "odd", false, 0), sqrt(5)));
    set_interval(&past, "odd", 10, NAN);
    take_after(&past, 2); // one of which nothing is known changes nothing
    assert_true(is_as(margin(&past, "odd", false, 0), sqrt(5)));
    take_after(&past, 10);
    assert_true(isnan(margin(&past, "odd", false, 0)));
    assert_true(is_as(margin(&past, "odd", false, 1), sqrt(5)));
    set_interval(&past, "odd", 10, 0); // counted all the time
    take_after(&past, 10);
    assert_true(margin(&past, "odd", false, 0) == 0);
    end(&past);
}

static void test_of_a_quotient_it_is_relative_to_the_steps_value_and_of_a_share_in_points(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_round(&past, 2, 0);
    set_branches(&past, 0, 0, 1000);
    take_after(&past, 0);
    set_branches(&past, 0, 20, 2000); // 20 a thousand, where the gauge says 10
    set_interval(&past, "branch_mpki", 10, 1);
    set_interval(&past, "retiring", 0, 0.02);
    take_after(&past, 2);
    assert_true(is_as(margin(&past, "branch_mpki", false, 0), 2));
    assert_true(is_as(margin(&past, "retiring_ratio", false, 0), 0.02));
    end(&past);
}

static void
test_a_step_within_a_round_has_a_wider_interval_and_one_without_its_own_value_that_of_the_round(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_round(&past, 10, 0);
    take_after(&past, 0);
    set_branches(&past, 0, 0, 1000);
    take_after(&past, 9);
    set_branches(&past, 0, 20, 2000);
    take_after(&past, 2); // sums of its own
    set_branches(&past, 0, NAN, NAN);
    take_after(&past, 10);
    take_after(&past, 10);
    set_round(&past, 40, 0);
    set_interval(&past, "branch_mpki", 20, 1);
    set_interval(&past, "odd", 20, 1);
    take_after(&past, 9);
    assert_true(is_as(margin(&past, "branch_mpki", false, 3), 1 * sqrt(4)));
    assert_true(is_as(margin(&past, "odd", false, 2), 1));
    end(&past);
}

static void test_it_outlives_a_restart_and_moves_with_its_step(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_round(&past, 2, 0);
    set_interval(&past, "odd", 10, 1);
    take_after(&past, 1);
    struct kept_history *kept = history_keep(past.history);
    assert_non_null(kept);
    history_free(past.history);
    past.history = history_new(HISTORY_SERIES_MAX);
    history_restore(past.history, kept);
    set_interval(&past, "odd", 10, NAN);
    take_after(&past, 30);
    assert_true(is_as(margin(&past, "odd", false, 3), 1));
    assert_true(isnan(margin(&past, "odd", false, 2)));
    end(&past);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_margin_comes_back_as_wide_or_a_little_wider),
        cmocka_unit_test(test_a_step_has_the_interval_of_its_rounds),
        cmocka_unit_test(test_of_a_quotient_it_is_relative_to_the_steps_value_and_of_a_share_in_points),
        cmocka_unit_test(
            test_a_step_within_a_round_has_a_wider_interval_and_one_without_its_own_value_that_of_the_round),
        cmocka_unit_test(test_it_outlives_a_restart_and_moves_with_its_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
