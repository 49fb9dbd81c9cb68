// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"
#include "tests/simulation/taped.h"

// Counts that cannot be: the host's counters jump and fall under running event groups.

// Everything is right again, in the gauges of the last round and in the totals.
static void assert_nothing_of_it_is_left(const struct pipeline *p) {
    assert_all_gauges_true(p);
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
        assert_totals_true(p, scope, 1e-6);
    assert_all_accounted(p, 1e-9);
}

static void test_a_jump_costs_one_window_of_each_cpu(void **state) {
    (void)state;
    static const double by[] = {0x1p47, 0x1p62, 0x1p41};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        struct pipeline p;
        fault_load(&p);
        add_rival(&p, RIVAL_JUMP, 0, "0-2", 20.45, 0)->by = by[i];
        start(&p);
        pipeline_run_until(&p, 60);
        double lost = pipeline_windows(&p, WINDOW_IMPLAUSIBLE);
        assert_true(lost > 0 && lost <= 3); // one that has its idle slot then has none
        assert_nothing_of_it_is_left(&p);
        pipeline_stop(&p);
    }
}

static void test_a_fall_costs_two_windows_of_each_cpu(void **state) {
    (void)state;
    static const double by[] = {-1e15, -0x1p47, -0x1p62};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        struct pipeline p;
        fault_load(&p);
        add_rival(&p, RIVAL_JUMP, 0, "0-2", 20.45, 0)->by = by[i];
        start(&p);
        pipeline_run_until(&p, 60);
        double lost = pipeline_windows(&p, WINDOW_IMPLAUSIBLE);
        assert_true(lost > 0 && lost <= 6);
        assert_nothing_of_it_is_left(&p);
        pipeline_stop(&p);
    }
}

// A read of a chained counter is 2^32 short, and the next one is right again: that is more than the group counts in a
// window, and less than a counter can count in it.
static void test_a_step_back_that_heals_is_not_counted(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    start(&p);
    p.recorder.short_every = 101;
    pipeline_run_until(&p, 120);
    size_t n_short = p.recorder.n_reads / p.recorder.short_every;
    p.recorder.short_every = 0;
    pipeline_run(&p, 3);
    assert_true(n_short > 10);
    double lost = pipeline_windows(&p, WINDOW_IMPLAUSIBLE);
    assert_true(lost > (double)n_short && lost <= 2 * (double)n_short);
    assert_nothing_of_it_is_left(&p);
    pipeline_stop(&p);
}

static void test_counts_that_jump_are_replayed(void **state) {
    (void)state;
    struct pipeline p;
    struct taped taped;
    fault_load(&p);
    add_rival(&p, RIVAL_JUMP, 0, "0-2", 5, 0)->by = 0x1p47;
    add_rival(&p, RIVAL_JUMP, 0, "3-5", 7, 0)->by = -0x1p47;
    start(&p);
    taped_begin(&taped, &p);
    taped_run(&taped, &p, 8);
    taped_assert_plays(&taped, 8);
    assert_true(pipeline_windows(&p, WINDOW_IMPLAUSIBLE) > 0);
    taped_end(&taped);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_jump_costs_one_window_of_each_cpu),
        cmocka_unit_test(test_a_fall_costs_two_windows_of_each_cpu),
        cmocka_unit_test(test_a_step_back_that_heals_is_not_counted),
        cmocka_unit_test(test_counts_that_jump_are_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
