// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/estimate_rig.h"

#include "core/estimate/estimate_unseen.h"

// Two event groups with a common event, on one CPU: if one has seen less of it than the other, its windows do not
// represent the round. By default rounds of 10 s and windows of 1 s.

enum { A_AND_B, B_AND_C, UNITS };

// Each event group has so many slots of a round.
static void rig_init_slots(struct rig *rig, unsigned cpus, unsigned slots) {
    static const char *const events[] = {"A", "B", "C"};
    struct catalog_builder *builder = builder_of(events, 3);
    metric_of(builder, "first", "A / B", "");
    metric_of(builder, "second", "C / B", "");
    metric_of(builder, "both", "first * second", "");
    group_of(builder, "all", "first second both");
    const struct plan_request request = {
        .general_counters = 2, .selections = &(struct plan_selection){0, slots}, .n_selections = 1};
    rig_begin(rig, builder, request, build_cpus(0, cpus, 1), 16);
    assert_int_equal(rig->plan->n_units, UNITS);
    assert_int_equal(rig->plan->metrics[0].unit, A_AND_B);
    assert_int_equal(rig->plan->metrics[1].unit, B_AND_C);
    assert_int_equal(rig->plan->metrics[2].unit, PLAN_COMBINED);
}

static void rig_init_cpus(struct rig *rig, unsigned cpus) { rig_init_slots(rig, cpus, 1); }
static void rig_init(struct rig *rig) { rig_init_cpus(rig, 1); }

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
    assert_int_equal(estimate_get(rig.estimate, 0, 0, 0.1, 1).doubt, ESTIMATE_MISSED);
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

// The second ratio is 0.2 in each round, so the product is as uncertain as the first one, which is 0.6 and then 0.2:
// their mean has a variance of 0.4 x 0.4 / 2 / 2, of the part of the time that was not counted. Of all of it there is
// no error.
static void test_the_error_of_a_product_is_of_the_time_that_was_not_counted(void **state) {
    (void)state;
    const double seconds[] = {1, 5, 10}; // of rounds of 10
    for (size_t i = 0; i < N_OF(seconds); i++) {
        struct rig rig;
        double of = seconds[i];
        rig_init(&rig);
        for (int r = 0; r < 2; r++) {
            count(&rig, A_AND_B, of, of * (60 - 40 * r), of * 100);
            count(&rig, B_AND_C, of, of * 100, of * 20);
            rounds(&rig, 1);
        }
        double first = estimate_get(rig.estimate, 0, 0, 0.4, 2).standard_error;
        double both = estimate_get(rig.estimate, 0, 2, 0.4 * 0.2, 2).standard_error;
        assert_true(fabs(first - 0.4 / 2 * sqrt(1 - of / 10)) < 1e-9);
        assert_true(fabs(both - 0.2 * first) < 1e-9);
        rig_free(&rig);
    }
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

// A load that comes in some of five rounds; the other unit always sees as much. Windows cover a tenth of the time, so
// that n equal ones of five count as n / 0.9: one is not enough, and two are. They have one degree of freedom, however
// much time they leave unseen.
static void feed_some_of_five(struct rig *rig, const bool *comes) {
    for (int r = 0; r < 5; r++) {
        count(rig, A_AND_B, 1, comes[r] ? 10 + r : 0, comes[r] ? 100 : 0);
        count(rig, B_AND_C, 1, comes[r] ? 100 : 0, 20);
        rounds(rig, 1);
    }
}

static void test_one_window_says_nothing_of_the_others(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    feed_some_of_five(&rig, (const bool[]){false, true, false, false, false});
    struct estimate_interval of = estimate_get(rig.estimate, 0, 0, 0.11, 5);
    assert_true(isnan(of.standard_error) && isnan(of.low) && isnan(of.high));
    assert_int_equal(of.quality, ESTIMATE_NONE);
    assert_int_equal(of.doubt, ESTIMATE_FEW_WINDOWS);
    assert_true(isnan(error_of(&rig, 2, 0.02))); // made of it
    rig_free(&rig);
}

static void test_a_ratio_has_no_more_degrees_of_freedom_than_windows_that_carry_it(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    feed_some_of_five(&rig, (const bool[]){false, true, false, true, false});
    expect_near(estimate_degrees(rig.estimate, 0, A_AND_B), 1, 1e-9);
    assert_true(isfinite(error_of(&rig, 0, 0.12)));
    struct estimate_interval of = estimate_get(rig.estimate, 0, 0, 0.12, 5);
    assert_true(of.quality == ESTIMATE_POOR && of.doubt == ESTIMATE_FEW_WINDOWS);
    rig_free(&rig);
}

// What counts all the time saw everything, in one round or in many.
static void test_what_counts_all_the_time_needs_no_second_window(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (int r = 0; r < 5; r++) {
        count(&rig, A_AND_B, 10, r == 1 ? 100 : 0, r == 1 ? 1000 : 0);
        count(&rig, B_AND_C, 1, r == 1 ? 100 : 0, 20);
        rounds(&rig, 1);
    }
    assert_true(error_of(&rig, 0, 0.1) == 0);
    rig_free(&rig);
}

// Nine rounds of a held core, which has one window in each: of the first group in `n` of them from the third on.
static void feed_held(struct rig *rig, int n) {
    expect_near(plan_share(rig->plan, A_AND_B), 0.5, 1e-9);
    for (int r = 0; r < 9; r++) {
        bool on = r >= 2 && r < 2 + n;
        cells_begin_round(rig->cells, 0);
        cells_note_window(rig->cells, 0, on ? A_AND_B : B_AND_C, 10);
        cells_add_values(rig->cells, 0, on ? A_AND_B : B_AND_C,
                         on ? (double[]){10, 10 + r, 100} : (double[]){10, 40, 9});
        cells_end_round(rig->cells, 0, 10);
        rig->cells->times[0].held = true;
        estimate_take_round(rig->estimate, rig->cells, 10);
    }
}

// In three rounds in a row half of it is the same one twice: the sum of squares is 3 + 2 x 2 x 0.5, and 5 instead of 3
// equal windows of a sum of 3 count as 9 / 5. By the half that they leave unseen that is enough for an interval.
static void test_a_window_that_reaches_over_the_end_of_a_round_is_one(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    feed_held(&rig, 3);
    expect_near(estimate_degrees(rig.estimate, scope_of_cpu(rig.topology, 0), A_AND_B), 9.0 / 5 - 1, 1e-9);
    assert_true(isfinite(estimate_get(rig.estimate, scope_of_cpu(rig.topology, 0), 0, 0.12, 9).low));
    rig_free(&rig);
}

// Two of them count as 4 / 3 by a half, or 2.7: of a core that sleeps both may have missed what woke it.
static void test_two_windows_of_a_core_that_sleeps_say_nothing(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    feed_held(&rig, 2);
    struct estimate_interval of = estimate_get(rig.estimate, scope_of_cpu(rig.topology, 0), 0, 0.12, 9);
    assert_true(isnan(of.standard_error) && isnan(of.low));
    assert_int_equal(of.quality, ESTIMATE_NONE);
    assert_int_equal(of.doubt, ESTIMATE_SLEPT);
    rig_free(&rig);
}

// 1,000 and 3,000 of B in two rounds: their difference is the mean, 2,000. The residual of the ratio, 350 of 2,000,
// differs by (500 - 0.175 x 2,000) / 2,000 = 0.075, and is doubled, as for a leverage of a half or more.
static void test_a_round_that_carries_the_mean_hides_its_own_error(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    count(&rig, A_AND_B, 1, 10, 100);
    count(&rig, B_AND_C, 1, 100, 20);
    rounds(&rig, 1);
    count(&rig, A_AND_B, 1, 60, 300);
    count(&rig, B_AND_C, 1, 300, 60);
    rounds(&rig, 1);
    expect_near(estimate_get(rig.estimate, 0, 0, 0.175, 2).standard_error, sqrt(0.15 * 0.15 / 2 * 0.9 / 2), 1e-6);
    rig_free(&rig);
}

// 400 and 2,000 of B in two rounds: their difference is more than their mean, 1,200, of which the second one makes five
// sixths. No round hides more of its error than a half: the residual of the ratio, 320 of 1,200, differs by
// (560 - 320 / 1,200 x 1,600) / 1,200 = 1 / 9, and is doubled.
static void test_a_round_that_carries_nearly_all_of_the_mean_hides_no_more_than_half_of_its_error(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    count(&rig, A_AND_B, 1, 4, 40);
    count(&rig, B_AND_C, 1, 40, 8);
    rounds(&rig, 1);
    count(&rig, A_AND_B, 1, 60, 200);
    count(&rig, B_AND_C, 1, 200, 40);
    rounds(&rig, 1);
    expect_near(estimate_get(rig.estimate, 0, 0, 320.0 / 1200, 2).standard_error, 2.0 / 9 * sqrt(0.9) / 2, 1e-6);
    rig_free(&rig);
}

// ---- windows in which the core slept, and in which it was awake ----

// Adds a window of a held core to a round: a slot of a second, or ten.
static void count_held(struct rig *rig, size_t cpu, size_t unit, bool asleep, double first, double second) {
    double seconds = asleep ? 10 : 1;
    cells_note_window(rig->cells, cpu, unit, seconds);
    cells_add_values(rig->cells, cpu, unit, (double[]){seconds, first, second});
}

// Twelve rounds of two held cores, with windows of A and B in every other one. The second core tells that A / B is
// `asleep` while it sleeps, and 0.1 while it is awake, with as much of B in each window.
static void feed_strata(struct rig *rig, bool first_sleeps, double asleep) {
    double ratio = first_sleeps ? asleep : 0.1;
    for (int r = 0; r < 12; r++) {
        for (size_t cpu = 0; cpu < 2; cpu++)
            cells_begin_round(rig->cells, cpu);
        bool sleeps = r % 4 == 0;
        if (r % 2 == 0) {
            count_held(rig, 0, A_AND_B, first_sleeps, 100 * ratio, 100);
            count_held(rig, 1, A_AND_B, sleeps, sleeps ? 100 * asleep : 10, 100);
        } else {
            count_held(rig, 0, B_AND_C, !first_sleeps, first_sleeps ? 0 : 100, 20);
            count_held(rig, 1, B_AND_C, true, 100, 20);
        }
        for (size_t cpu = 0; cpu < 2; cpu++) {
            cells_end_round(rig->cells, cpu, 10);
            rig->cells->times[cpu].held = true;
        }
        estimate_take_round(rig->estimate, rig->cells, 10);
    }
}

static double error_of_first(const struct rig *rig, size_t metric, double value) {
    return estimate_get(rig->estimate, scope_of_cpu(rig->topology, 0), metric, value, 12).standard_error;
}

// It was awake in all windows of A and B, 100 of B a second; while it slept, there were 100 by B and C, or 50 by both.
// A core's first round says nothing of that: of the others, 6 are of sleep and 5 are not.
static void test_windows_of_a_held_core_that_was_awake_in_all_of_them_have_missed_its_sleep(void **state) {
    (void)state;
    struct rig rig;
    rig_init_cpus(&rig, 2);
    feed_strata(&rig, false, 0.3);
    expect_near(error_of_first(&rig, 0, 0.1), 6 * 50.0 / (6 * 50 + 5 * 100) * (0.3 - 0.1), 1e-6);
    rig_free(&rig);
}

// It slept in all windows of A and B: 50 of B a round by both. It was awake for half a second a round, in which there
// are 33 by what the second core counts a second, though the other windows have seen none. Again without the first
// round.
static void test_time_awake_tells_what_windows_of_sleep_have_missed(void **state) {
    (void)state;
    struct rig rig;
    rig_init_cpus(&rig, 2);
    feed_strata(&rig, true, 0.3);
    expect_near(error_of_first(&rig, 0, 0.3), (1 - 5 * 50 / (5 * 50 + 6 * 100.0 / 3)) * (0.3 - 0.1), 1e-6);
    rig_free(&rig);
}

static void test_strata_that_do_not_differ_are_no_error(void **state) {
    (void)state;
    struct rig rig;
    rig_init_cpus(&rig, 2);
    feed_strata(&rig, false, 0.1);
    assert_true(error_of_first(&rig, 0, 0.1) < 1e-9);
    rig_free(&rig);
}

// Nobody has seen C / B of a core that is awake.
static void test_a_stratum_that_nobody_has_seen_tells_no_difference(void **state) {
    (void)state;
    struct rig rig;
    rig_init_cpus(&rig, 2);
    feed_strata(&rig, false, 0.3);
    assert_true(error_of_first(&rig, 1, 5) < 1e-9);
    rig_free(&rig);
}

// As a held core that is found awake when its slot ends: the long window has 100 of B while it slept and 100 that are
// hidden, of a thread that goes on in a short one.
static void count_waking(struct rig *rig, size_t cpu) {
    count_held(rig, cpu, A_AND_B, true, 30 + 10, 100 + 100);
    count_held(rig, cpu, B_AND_C, false, 100, 20);
}

static void end_held(struct rig *rig) {
    for (size_t cpu = 0; cpu < rig->cells->n_cpus; cpu++) {
        cells_end_round(rig->cells, cpu, 10);
        rig->cells->times[cpu].held = true;
    }
    estimate_take_round(rig->estimate, rig->cells, 10);
}

// The first core sleeps in all windows of A and B, whose ratio is 0.3, and 0.1 while a core is awake. By both groups it
// has 75 of B a round asleep. It is awake for 0.25 s a round. The second one is awake for twice as long, and has 50 a
// round in windows of that, and 50 in long windows that have 10 a second more than others: all cores have 100 in
// 0.75 s, which are 33 of the first one. Without the first round there are 100 less of sleep, of 12 x 75.
static void test_what_a_core_does_before_it_is_found_awake_is_not_of_its_sleep(void **state) {
    (void)state;
    struct rig rig;
    rig_init_slots(&rig, 2, 2); // a core that is held does not have all of its slots
    for (int r = 0; r < 12; r++) {
        for (size_t cpu = 0; cpu < 2; cpu++)
            cells_begin_round(rig.cells, cpu);
        count_held(&rig, 0, r % 2 == 0 ? A_AND_B : B_AND_C, r % 4 != 1, r % 2 == 0 ? 30 : 100, r % 2 == 0 ? 100 : 20);
        if (r % 4 == 1)
            count_waking(&rig, 1);
        else if (r % 4 == 3)
            count_held(&rig, 1, B_AND_C, true, 100, 20);
        else
            count_held(&rig, 1, A_AND_B, r % 4 == 0, r % 4 == 0 ? 30 : 10, 100);
        end_held(&rig);
    }
    expect_near(error_of_first(&rig, 0, 0.3), (1 - 800 / (800 + 12 * 100.0 / 3)) * (0.3 - 0.1), 1e-6);
    rig_free(&rig);
}

// What a long window has more than sleep counts in its time, in a round in which the core was awake.
static void test_a_long_window_in_which_a_core_woke_is_partly_of_its_sleep(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    struct estimate_rounds *rounds = estimate_rounds_new(rig.rows, 1);
    struct estimate_strata *strata = estimate_strata_new(rig.rows);
    struct estimate_sizes *sizes = estimate_sizes_new(rig.rows, 1, 1);
    const double asleep[] = {1, 0.5, 1, 0}; // of sleep alone, waking, few counts, awake
    for (size_t r = 0; r < N_OF(asleep); r++) {
        cells_begin_round(rig.cells, 0);
        if (r == 0)
            count_held(&rig, 0, A_AND_B, true, 30, 100);
        else if (r == 1)
            count_waking(&rig, 0);
        else
            count_held(&rig, 0, A_AND_B, r == 2, 10, 50);
        if (r == 2)
            count_held(&rig, 0, B_AND_C, false, 100, 20);
        cells_end_round(rig.cells, 0, 10);
        rig.cells->times[0].held = true;
        estimate_rounds_take(rounds, rig.cells, 10);
        estimate_strata_take_round(strata, rounds, 16);
        estimate_sizes_take_round(sizes, rounds, strata);
        expect_near(estimate_rounds_cell(rounds, 0, A_AND_B)->asleep.of[0], asleep[r], 1e-9);
    }
    estimate_sizes_free(sizes);
    estimate_strata_free(strata);
    estimate_rounds_free(rounds);
    rig_free(&rig);
}

// Cores that are held: the first has A and B while it sleeps alone, the second one sleeps and wakes in each round, but
// for some rounds at the beginning in which it only slept.
static void feed_waking(struct rig *rig, int n, int n_asleep) {
    for (int r = 0; r < n; r++) {
        for (size_t cpu = 0; cpu < 2; cpu++)
            cells_begin_round(rig->cells, cpu);
        count_held(rig, 0, A_AND_B, true, 30e6, 100e6);
        count_held(rig, 0, B_AND_C, false, 100e6, 20e6);
        bool alone = r < n_asleep, first = alone || r % 2 == 0;
        count_held(rig, 1, A_AND_B, first, first ? 30e6 : 10e6, 100e6);
        if (!alone)
            count_held(rig, 1, B_AND_C, !first, 100e6, 20e6);
        end_held(rig);
    }
}

static double error_of_waking(int n, int n_asleep) {
    struct rig rig;
    rig_init_slots(&rig, 2, 2);
    feed_waking(&rig, n, n_asleep);
    double error = error_of_first(&rig, 0, 0.3);
    rig_free(&rig);
    return error;
}

// Windows in which cores slept and woke stand for sleep then.
static void test_without_a_round_of_sleep_alone_what_is_awake_differs_still(void **state) {
    (void)state;
    assert_true(error_of_waking(40, 0) > 0.06);
}

static void test_what_sleep_is_like_is_known_hours_later(void **state) {
    (void)state;
    expect_near(error_of_waking(20000, 4), error_of_waking(200, 4), 0.05);
}

// Half of B in a window in which the core woke is of its sleep, but only an eleventh of A.
static void test_what_part_of_a_count_is_of_sleep_is_each_events_own(void **state) {
    (void)state;
    static const char *const events[] = {"A", "B", "C", "D"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    metric_of(builder, "first", "A / B", "");
    metric_of(builder, "second", "C / B", "");
    metric_of(builder, "third", "D / A", "");
    group_of(builder, "all", "first second third");
    struct rig rig = {.catalog = catalog_builder_finish(builder)};
    rig.plan = build_plan(&(struct plan_request){.catalog = rig.catalog,
                                                 .general_counters = 2,
                                                 .selections = &(struct plan_selection){0, 1},
                                                 .n_selections = 1,
                                                 .slot_ns = UINT64_C(1000000000)});
    rig.rows = rows_new(rig.plan);
    rig.cells = cells_new(rig.rows, 1);
    struct estimate_rounds *rounds = estimate_rounds_new(rig.rows, 1);
    struct estimate_strata *strata = estimate_strata_new(rig.rows);
    struct estimate_sizes *sizes = estimate_sizes_new(rig.rows, 1, 1);
    unsigned of[3];
    for (size_t m = 0; m < N_OF(of); m++)
        of[m] = (unsigned)rig.plan->metrics[m].unit;
    for (int r = 0; r < 2; r++) {
        cells_begin_round(rig.cells, 0);
        count_held(&rig, 0, of[0], true, r == 0 ? 30 : 30 + 300, r == 0 ? 100 : 100 + 100);
        if (r == 1)
            count_held(&rig, 0, of[2], false, 100, 20);
        cells_end_round(rig.cells, 0, 10);
        rig.cells->times[0].held = true;
        estimate_rounds_take(rounds, rig.cells, 10);
        estimate_strata_take_round(strata, rounds, 16);
        estimate_sizes_take_round(sizes, rounds, strata);
    }
    expect_near(sizes->asleep[of[1]].of[0] / sizes->all[of[1]].of[0], 0.5, 1e-9);
    estimate_sizes_free(sizes);
    estimate_strata_free(strata);
    estimate_rounds_free(rounds);
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_that_missed_a_part_say_so_though_they_never_vary),
        cmocka_unit_test(test_what_is_made_of_others_has_missed_as_much_as_the_worst_of_them),
        cmocka_unit_test(test_the_error_of_a_product_is_of_the_time_that_was_not_counted),
        cmocka_unit_test(test_windows_that_saw_as_much_as_others_have_missed_nothing),
        cmocka_unit_test(test_what_varies_is_short_by_chance),
        cmocka_unit_test(test_a_single_round_is_short_by_chance_up_to_two_standard_errors),
        cmocka_unit_test(test_a_round_without_a_window_is_not_short_of_anything),
        cmocka_unit_test(test_what_counts_all_the_time_decides),
        cmocka_unit_test(test_one_window_says_nothing_of_the_others),
        cmocka_unit_test(test_a_ratio_has_no_more_degrees_of_freedom_than_windows_that_carry_it),
        cmocka_unit_test(test_what_counts_all_the_time_needs_no_second_window),
        cmocka_unit_test(test_a_window_that_reaches_over_the_end_of_a_round_is_one),
        cmocka_unit_test(test_two_windows_of_a_core_that_sleeps_say_nothing),
        cmocka_unit_test(test_a_round_that_carries_the_mean_hides_its_own_error),
        cmocka_unit_test(test_a_round_that_carries_nearly_all_of_the_mean_hides_no_more_than_half_of_its_error),
        cmocka_unit_test(test_windows_of_a_held_core_that_was_awake_in_all_of_them_have_missed_its_sleep),
        cmocka_unit_test(test_time_awake_tells_what_windows_of_sleep_have_missed),
        cmocka_unit_test(test_strata_that_do_not_differ_are_no_error),
        cmocka_unit_test(test_a_stratum_that_nobody_has_seen_tells_no_difference),
        cmocka_unit_test(test_what_a_core_does_before_it_is_found_awake_is_not_of_its_sleep),
        cmocka_unit_test(test_a_long_window_in_which_a_core_woke_is_partly_of_its_sleep),
        cmocka_unit_test(test_without_a_round_of_sleep_alone_what_is_awake_differs_still),
        cmocka_unit_test(test_what_sleep_is_like_is_known_hours_later),
        cmocka_unit_test(test_what_part_of_a_count_is_of_sleep_is_each_events_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
