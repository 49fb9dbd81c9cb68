// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/estimate_rig.h"

#include "core/base/student.h"

// Four cores that have their idle pieces at the same times, a tenth of a round. Each counts A and B for a part of
// rounds of 10 s; extrapolated, 100 of B a second.

enum { CORES = 4, ROUNDS = 2 };

// `groups`: 1, or 2 with another event group, which has no data.
static void rig_init_groups(struct rig *rig, double idle, unsigned groups) {
    static const char *const events[] = {"A", "B", "C", "D"};
    struct catalog_builder *builder = builder_of(events, 4);
    metric_of(builder, "ratio", "A / B", "");
    metric_of(builder, "other", "C / D", "");
    group_of(builder, "all", groups > 1 ? "ratio other" : "ratio");
    rig_begin(rig, builder, (struct plan_request){.general_counters = 2, .idle = idle}, build_cpus(0, CORES, 1), 16);
    assert_int_equal(rig->plan->n_units, groups);
    assert_int_equal(rig->plan->metrics[0].unit, 0);
}

static void rig_init(struct rig *rig, double idle) { rig_init_groups(rig, idle, 1); }

// Takes a round in, of which each core counts `seconds`: a[core] of A a second. The rounds of the first `early` cores
// end before those of the others.
static void round_each(struct rig *rig, double seconds, const double a[CORES], size_t early) {
    for (size_t cpu = 0; cpu < CORES; cpu++) {
        double *values = cells_values(rig->cells, cpu, 0);
        values[0] = cells_at(rig->cells, cpu, 0)->running_seconds = seconds;
        values[1] = seconds * a[cpu];
        values[2] = seconds * 100;
        cells_end_round(rig->cells, cpu, 10);
        rig->cells->times[cpu].end_ns = cpu < early ? 1000 : 2000;
    }
    estimate_take_round(rig->estimate, rig->cells, 10);
}

// `a` on the first half of the cores, `b` on the others; all end together.
static void round_of(struct rig *rig, double seconds, double a, double b) {
    round_each(rig, seconds, (const double[]){a, a, b, b}, 0);
}

static double error_of(const struct rig *rig, double rounds) {
    return estimate_get(rig->estimate, 0, 0, 0.5, rounds).standard_error;
}

static void expect(double value, double wanted) { expect_near(value, wanted, 1e-6); }

// Each core's residual differs by 0.2 / 4 between 40 and 60 of A: with a fifth unseen the variance is
// 4 x 0.05^2 / 2 x 0.2 = 0.001. Their sum differs by 0.2: as one population it has 0.2^2 / 2 = 0.02 instead of 0.005,
// of which a tenth is unseen, and 0.0015 more. The cores differ by nothing from their mean, so they have no error of
// their own.
static void test_what_cores_do_in_step_is_unseen_on_all_of_them(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_of(&rig, 8, 40, 40);
    round_of(&rig, 8, 60, 60);
    expect(error_of(&rig, 1), sqrt(0.0015));
    // one draw for what they have in common, and one for each of four cores
    expect(estimate_degrees(rig.estimate, 0, 0), 0.0025 * 0.0025 / (0.001 * 0.001 / 4 + 0.0015 * 0.0015));
    rig_free(&rig);
}

static void test_what_cores_do_by_themselves_adds_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_of(&rig, 8, 40, 60);
    round_of(&rig, 8, 60, 40);
    expect(error_of(&rig, 1), sqrt(0.001));
    expect(estimate_degrees(rig.estimate, 0, 0), 4);
    rig_free(&rig);
}

// With windows of half of the time the cores' variance is 4 x 0.05^2 / 2 x 0.5 = 0.0025; that of their sum in step, in
// a tenth of the time, 4 x 0.005 x 0.5 x 0.1 = 0.001. That the load has changed by more says nothing of idle pieces,
// and nothing of the cores' own errors.
static void test_a_slow_change_is_no_error_of_idle_pieces(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_of(&rig, 5, 40, 40);
    round_of(&rig, 5, 60, 60);
    expect(error_of(&rig, 1), sqrt(0.001));
    rig_free(&rig);
}

// Two cores go up and two go down, and each two have their rounds together: those differ by 0.1 in sum, and have
// 0.1^2 / 2 = 0.005 instead of 0.0025 as one population. Four cores have four times as much of that as two; the two
// pairs that were compared are half as many as there are then: (0.0025 + 0.0025) x 2 = 0.01, of which a tenth is
// unseen. Each two change together, which is no error of theirs.
static void test_only_rounds_that_end_together_are_compared(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_each(&rig, 8, (const double[]){40, 40, 60, 60}, 2);
    round_each(&rig, 8, (const double[]){60, 60, 40, 40}, 2);
    expect(error_of(&rig, 1), sqrt(0.001));
    rig_free(&rig);
}

// Two blocks of two cores, of which one counts the first half of the round and the other one the second half, in turns.
// What all of them do is the same in each round, so that the sum of the cores never differs. As each block saw all of
// it, it is known that they are in step: as in test_a_slow_change_is_no_error_of_idle_pieces.
static void test_what_repeats_in_step_within_a_round_is_unseen_on_all_cores(void **state) {
    (void)state;
    struct rig rig;
    rig_init_groups(&rig, 0.1, 2);
    round_each(&rig, 5, (const double[]){40, 60, 40, 60}, 0);
    round_each(&rig, 5, (const double[]){60, 40, 60, 40}, 0);
    expect(error_of(&rig, 1), sqrt(0.0025 + 0.001));
    rig_free(&rig);
}

// The sums of the blocks, 0 and 0.1, differ as much as those of four cores do that have nothing to do with each other.
static void test_blocks_that_differ_as_their_cores_do_are_not_in_step(void **state) {
    (void)state;
    struct rig rig;
    rig_init_groups(&rig, 0.1, 2);
    round_each(&rig, 5, (const double[]){40, 60, 40, 40}, 0);
    round_each(&rig, 5, (const double[]){60, 40, 60, 60}, 0);
    expect(error_of(&rig, 1), sqrt(0.0025));
    rig_free(&rig);
}

static void test_without_idle_pieces_cores_have_nothing_in_common(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    round_of(&rig, 8, 40, 60);
    round_of(&rig, 8, 60, 40);
    expect(error_of(&rig, 1), sqrt(0.001));
    rig_free(&rig);
    rig_init(&rig, 0);
    round_of(&rig, 8, 40, 40);
    round_of(&rig, 8, 60, 60);
    assert_true(error_of(&rig, 1) < 1e-12); // all of it is a change of the load
    rig_free(&rig);
}

// The load changes by 20 of A on all cores, and by 4 more on one half and 4 less on the other: only that is theirs.
// About the mean, each differs by 0.04 / 4: 4 x 0.01^2 / 2 x 0.2, by 4 - 1 degrees of freedom of 4.
static void test_a_change_of_all_cores_is_no_error_of_any(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0);
    round_of(&rig, 8, 40, 40);
    round_of(&rig, 8, 64, 56);
    expect(error_of(&rig, 1), sqrt(4 * 0.01 * 0.01 / 2 * 0.2 * 4 / 3));
    rig_free(&rig);
}

// As test_what_repeats_in_step_within_a_round_is_unseen_on_all_cores, for so long that it is sure: the sums of the
// blocks never differ, so that nearly all of the cores' variance is balanced. Two standard errors of 31 rounds' remain.
static void test_what_blocks_balance_for_long_is_no_error_of_their_sum(void **state) {
    (void)state;
    struct rig rig;
    rig_init_groups(&rig, 0.1, 2);
    for (int r = 0; r < 200; r++) {
        round_each(&rig, 5, (const double[]){40, 60, 40, 60}, 0);
        round_each(&rig, 5, (const double[]){60, 40, 60, 40}, 0);
    }
    double sure = 4.0 / 3 - 2 * sqrt(2 / 31.0);
    assert_true(sure > 0.8 && sure < 1);
    double error = error_of(&rig, 1);
    if (!(fabs(error * error - (0.0025 * (1 - sure) + 0.001)) < 1e-5))
        fail_msg("%g instead of %g", error, sqrt(0.0025 * (1 - sure) + 0.001));
    rig_free(&rig);
}

// What nothing tells of idle pieces: a fifth of 0.5 in a tenth of the time, by about 1.48 pieces, as a round lasts 1.11
// s.
static void test_a_round_claims_no_more_than_its_resolution(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    for (int r = 0; r < ROUNDS; r++)
        round_of(&rig, 8, 50, 50);
    double least = 0.2 * 0.5 * 0.1 / sqrt(1 / 0.9 / 0.75);
    expect(error_of(&rig, 1), least);
    expect(error_of(&rig, 25), least / 5);
    size_t one = scope_of_cpu(rig.topology, 0); // has pieces at places that are independent of its windows
    assert_true(estimate_get(rig.estimate, one, 0, 0.5, 1).standard_error == 0);
    rig_free(&rig);
    rig_init(&rig, 0.1);
    for (int r = 0; r < ROUNDS; r++)
        round_of(&rig, 10, 50, 50); // all the time, in idle pieces too
    assert_true(error_of(&rig, 1) == 0);
    rig_free(&rig);
}

// It is not estimated from differences, so that few of them do not widen it: the cores' own 0.0005 by one degree of
// freedom for each of four cores is less.
static void test_few_rounds_do_not_widen_the_resolution(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, 0.1);
    round_each(&rig, 8, (const double[]){50, 50, 50, 50}, 0);
    round_each(&rig, 8, (const double[]){50.5, 50.5, 49.5, 49.5}, 0);
    struct estimate_interval of = estimate_get(rig.estimate, 0, 0, 0.5, 1);
    expect(of.high - 0.5, of.standard_error * student_95(INFINITY));
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cores_do_in_step_is_unseen_on_all_of_them),
        cmocka_unit_test(test_what_cores_do_by_themselves_adds_nothing),
        cmocka_unit_test(test_a_slow_change_is_no_error_of_idle_pieces),
        cmocka_unit_test(test_only_rounds_that_end_together_are_compared),
        cmocka_unit_test(test_what_repeats_in_step_within_a_round_is_unseen_on_all_cores),
        cmocka_unit_test(test_blocks_that_differ_as_their_cores_do_are_not_in_step),
        cmocka_unit_test(test_without_idle_pieces_cores_have_nothing_in_common),
        cmocka_unit_test(test_a_change_of_all_cores_is_no_error_of_any),
        cmocka_unit_test(test_what_blocks_balance_for_long_is_no_error_of_their_sum),
        cmocka_unit_test(test_a_round_claims_no_more_than_its_resolution),
        cmocka_unit_test(test_few_rounds_do_not_widen_the_resolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
