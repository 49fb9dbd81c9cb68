// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/estimate/estimate.h"

// Two event groups with a common event, on one CPU: if one has seen less of it than the other, its windows do not
// represent the round. By default rounds of 10 s and windows of 1 s.

enum { A_AND_B, B_AND_C, UNITS };

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct estimate *estimate;
    struct rows *rows;
    struct cells *cells;
};

static void rig_init(struct rig *rig) {
    static const char *const events[] = {"A", "B", "C"};
    struct catalog_builder *builder = builder_of(events, 3);
    metric_of(builder, "first", "A / B", "");
    metric_of(builder, "second", "C / B", "");
    metric_of(builder, "both", "first * second", "");
    group_of(builder, "all", "first second both");
    *rig = (struct rig){.catalog = catalog_builder_finish(builder)};
    rig->plan = build_plan(
        &(struct plan_request){.catalog = rig->catalog, .general_counters = 2, .slot_ns = UINT64_C(1000000000)});
    assert_int_equal(rig->plan->n_units, UNITS);
    assert_int_equal(rig->plan->metrics[0].unit, A_AND_B);
    assert_int_equal(rig->plan->metrics[1].unit, B_AND_C);
    assert_int_equal(rig->plan->metrics[2].unit, PLAN_COMBINED);
    rig->topology = build_cpus(0, 1, 1);
    rig->estimate = estimate_new(rig->plan, rig->topology, 16);
    rig->rows = rows_new(rig->plan);
    rig->cells = cells_new(rig->rows, 1);
    assert_true(rig->estimate && rig->rows && rig->cells);
}

static void rig_free(struct rig *rig) {
    cells_free(rig->cells);
    rows_free(rig->rows);
    estimate_free(rig->estimate);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

static void count(struct rig *rig, size_t unit, double seconds, double first, double second) {
    double *values = cells_values(rig->cells, 0, unit);
    values[0] = cells_at(rig->cells, 0, unit)->running_seconds = seconds;
    values[1] = first;
    values[2] = second;
}

static void rounds(struct rig *rig, int n) {
    for (int r = 0; r < n; r++) {
        for (size_t cpu = 0; cpu < rig->cells->n_cpus; cpu++)
            cells_end_round(rig->cells, cpu, 10);
        estimate_take_round(rig->estimate, rig->cells, 10);
    }
}

static double error_of(const struct rig *rig, size_t metric, double value) {
    return estimate_get(rig->estimate, 0, metric, value, 1).standard_error;
}

static void expect_near(double value, double wanted, double relative) {
    if (!(fabs(value - wanted) <= relative * fabs(wanted)))
        fail_msg("%.12g instead of %.12g", value, wanted);
}

// 100 of B a second here, 400 there: 250 by both. 150 of these 250 were not seen, and may have any ratio.
static void test_windows_that_missed_a_part_say_so_though_they_never_vary(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    count(&rig, A_AND_B, 1, 10, 100);
    count(&rig, B_AND_C, 1, 400, 80);
    rounds(&rig, 5);
    expect_near(error_of(&rig, 0, 0.1), 0.6 * 0.1, 1e-9);
    expect_near(estimate_get(rig.estimate, 0, 0, 0.1, 5).standard_error, 0.6 * 0.1, 1e-9);
    assert_true(error_of(&rig, 1, 0.2) == 0); // they have seen more than there is
    assert_int_equal(estimate_get(rig.estimate, 0, 0, 0.1, 1).quality, ESTIMATE_POOR);
    rig_free(&rig);
}

static void test_what_is_made_of_others_has_missed_as_much_as_the_worst_of_them(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    count(&rig, A_AND_B, 1, 10, 100);
    count(&rig, B_AND_C, 1, 400, 80);
    rounds(&rig, 5);
    expect_near(error_of(&rig, 2, 0.02), 0.6 * 0.02, 1e-9);
    rig_free(&rig);
}

static void test_windows_that_saw_as_much_as_others_have_missed_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    count(&rig, A_AND_B, 1, 10, 100);
    count(&rig, B_AND_C, 2, 200, 80);
    rounds(&rig, 5);
    assert_true(error_of(&rig, 0, 0.1) < 1e-9 && error_of(&rig, 1, 0.4) < 1e-9);
    rig_free(&rig);
}

// 1,000 and 3,000 of B in the round differ by 2,000, a standard error of 2,000 sqrt(0.9 / 2) = 1,342: that the mean is
// 250 short of what both say together (2,250) is no wonder. The ratio is always the same, so that no error is left.
static void test_what_varies_is_short_by_chance(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int r = 0; r < 2; r++) {
        count(&rig, A_AND_B, 1, 10 + 20 * r, 100 + 200 * r);
        count(&rig, B_AND_C, 1, 250, 50);
        rounds(&rig, 1);
    }
    assert_true(estimate_get(rig.estimate, 0, 0, 0.1, 2).standard_error < 1e-9);
    rig_free(&rig);
}

// The same 1,342 on a round that has 1,000 of B after one of 3,000. Of 3,000 by both it is short by less than two of
// them, of 5,000 by 4,000, of which two of them leave 1,317 unseen.
static void test_a_single_round_is_short_by_chance_up_to_two_standard_errors(void **state) {
    (void)state;
    const double others[] = {500, 900}, unseen[] = {0, (4000 - 2 * sqrt(1800000)) / 5000};
    for (size_t i = 0; i < N_OF(others); i++) {
        struct rig rig;
        rig_init(&rig);
        count(&rig, A_AND_B, 1, 30, 300);
        count(&rig, B_AND_C, 1, others[i], others[i] / 5);
        rounds(&rig, 1);
        count(&rig, A_AND_B, 1, 10, 100);
        rounds(&rig, 1);
        assert_true(fabs(error_of(&rig, 0, 0.1) - unseen[i] * 0.1) < 1e-9);
        rig_free(&rig);
    }
}

static void test_a_round_without_a_window_is_not_short_of_anything(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int r = 0; r < 8; r++) {
        bool data = r != 5;
        count(&rig, A_AND_B, data, data ? 10 : 0, data ? 100 : 0);
        count(&rig, B_AND_C, 1, 100, 20);
        rounds(&rig, 1);
    }
    assert_true(estimate_get(rig.estimate, 0, 0, 0.1, 8).standard_error < 1e-9);
    rig_free(&rig);
}

// 4,000 of B are counted all the time: the other unit missed 3,000 of these, regardless of its own count.
static void test_what_counts_all_the_time_decides(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    count(&rig, A_AND_B, 1, 10, 100);
    count(&rig, B_AND_C, 10, 4000, 800);
    rounds(&rig, 5);
    expect_near(error_of(&rig, 0, 0.1), 0.75 * 0.1, 1e-5);
    count(&rig, A_AND_B, 1, 1000, 10000);
    rounds(&rig, 1);
    assert_true(error_of(&rig, 1, 0.2) < 1e-5);
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_that_missed_a_part_say_so_though_they_never_vary),
        cmocka_unit_test(test_what_is_made_of_others_has_missed_as_much_as_the_worst_of_them),
        cmocka_unit_test(test_windows_that_saw_as_much_as_others_have_missed_nothing),
        cmocka_unit_test(test_what_varies_is_short_by_chance),
        cmocka_unit_test(test_a_single_round_is_short_by_chance_up_to_two_standard_errors),
        cmocka_unit_test(test_a_round_without_a_window_is_not_short_of_anything),
        cmocka_unit_test(test_what_counts_all_the_time_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
