// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "history_past.h"

// A history outlives topdownd and the host's boot: what was not watched is empty, and all else is at its time of day.

// ---- another process ----

// Ends the process, and begins another one that goes on with its history after so many seconds.
static void restart(struct past *past, double seconds) {
    struct kept_history *kept = history_keep(past->history);
    assert_non_null(kept);
    history_free(past->history);
    past->history = history_new(HISTORY_SERIES_MAX);
    assert_non_null(past->history);
    history_restore(past->history, kept);
    assert_null(history_keep(past->history)); // nothing of its own yet
    assert_ptr_equal(history_kept(past->history), kept);
    past->snapshot->end_ns += (uint64_t)(int64_t)(seconds * 1e9); // or before it
}

static void test_a_restart_goes_on_with_the_past_and_leaves_the_time_between_empty(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    assert_null(history_keep(past.history));
    set_branches(&past, 0, 100, 1000);
    take_after(&past, 0);
    set_branches(&past, 0, 110, 2000); // 10 a thousand
    take_after(&past, 2);
    marks_add(history_marks(past.history), (int64_t)past.snapshot->end_ns, MARK_PLAN, "another plan");
    restart(&past, 40);
    set_branches(&past, 0, 5, 100); // its totals begin anew
    take_after(&past, 1);
    set_branches(&past, 0, 45, 1100); // 40 a thousand
    take_after(&past, 1);
    assert_null(history_kept(past.history));
    assert_int_equal(history_range(past.history, false).n, 5);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 4), 10));
    for (size_t ago = 1; ago < 4; ago++)
        assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, ago)));
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 0), 40));
    const struct marks *marks = history_marks(past.history);
    assert_int_equal(marks_count(marks), 2);
    assert_int_equal(marks_get(marks, 0)->kind, MARK_PLAN);
    assert_int_equal(marks_get(marks, 1)->kind, MARK_GAP);
    assert_string_equal(marks_get(marks, 1)->text, "topdownd did not run for 40 s");
    restart(&past, 3600); // the hour is over, the day is not
    take_after(&past, 1);
    assert_string_equal(marks_get(history_marks(past.history), 2)->text, "topdownd did not run for 3600 s");
    assert_int_equal(history_range(past.history, false).n, HISTORY_FINE_N);
    assert_int_equal(history_range(past.history, true).n, 13);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", true, 12), 40));
    restart(&past, 2 * 86400);
    take_after(&past, 1);
    for (size_t ago = 0; ago < HISTORY_COARSE_N; ago++)
        assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", true, ago)));
    end(&past);
}

static void test_who_was_killed_is_not_said_to_have_slept(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0);
    struct kept_history *kept = history_keep(past.history);
    assert_non_null(kept);
    kept->meanwhile = true; // as it was written each five minutes
    history_free(past.history);
    past.history = history_new(HISTORY_SERIES_MAX);
    assert_non_null(past.history);
    history_restore(past.history, kept);
    past.snapshot->end_ns += 1250 * SECOND_NS;
    take_after(&past, 1);
    assert_string_equal(marks_get(history_marks(past.history), 0)->text,
                        "topdownd was killed: nothing is known of the 1250 s before it began");
    end(&past);
}

static void test_a_history_of_another_clock_is_not_gone_on_with(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    set_branches(&past, 0, 100, 1000);
    take_after(&past, 0);
    set_branches(&past, 0, 110, 2000);
    take_after(&past, 2);
    restart(&past, -1000);
    take_after(&past, 1);
    assert_null(history_kept(past.history));
    assert_int_equal(history_range(past.history, false).n, 1);
    assert_true(isnan(value(&past, HISTORY_HOST, "branch_mpki", false, 0)));
    end(&past);
}

// ---- another boot ----

static double wall_now(const struct past *past) { return past->wall_offset + (double)past->snapshot->end_ns * 1e-9; }

// The metric at a time of day.
static double at_wall(const struct past *past, const char *metric, bool coarse, double wall) {
    struct steps_range range = history_range(past->history, coarse);
    double result, at_ns = wall * 1e9 - (double)history_wall_offset_ns(past->history);
    history_read(past->history, HISTORY_HOST, metric, coarse, (int64_t)floor(at_ns / (double)range.step_ns), 1,
                 &result);
    return result;
}

// The host boots: it is down for so many seconds, and its wall clock is `ahead` of the right time then. topdownd begins
// 30 s later.
static void reboot(struct past *past, double down, double ahead) {
    struct kept_history *kept = history_keep(past->history);
    double wall = wall_now(past) + down + 30 + ahead;
    assert_non_null(kept);
    past->snapshot->end_ns = 30 * SECOND_NS;
    struct kept_history *moved = kept_history_reboot(kept, (int64_t)(past->wall_offset * 1e9),
                                                     (int64_t)((wall - 30) * 1e9), (int64_t)(30 * SECOND_NS));
    past->wall_offset = wall - 30;
    assert_non_null(moved);
    kept_history_free(kept);
    history_free(past->history);
    past->history = history_new(HISTORY_SERIES_MAX);
    assert_non_null(past->history);
    history_restore(past->history, moved);
}

// Goes on to the end of a short step: so many misses a thousand in it.
static void measure_step(struct past *past, double misses) {
    set_branches(past, 0, 0, 0);
    take_after(past, 0);
    uint64_t left_s = 10 - past->snapshot->end_ns / SECOND_NS % 10;
    set_branches(past, 0, misses, 1000);
    take_after(past, (double)left_s - 0.5);
    take_after(past, 0.5); // its totals stay: nothing in the next step
}

// The wall clock is set, which the next snapshot shows.
static void set_clock(struct past *past, double by) {
    past->wall_offset += by;
    take_after(past, 1);
}

static size_t count_values(const struct past *past, const char *metric) {
    struct steps_range range = history_range(past->history, false);
    size_t n = 0;
    for (size_t ago = 0; ago < range.n; ago++)
        n += isnan(value(past, HISTORY_HOST, metric, false, ago)) ? 0 : 1;
    return n;
}

static void test_a_boot_is_a_gap_and_what_was_before_stays_at_its_time(void **state) {
    (void)state;
    static const double downs[] = {3, 94, 181.7, 1203};
    for (size_t i = 0; i < sizeof downs / sizeof downs[0]; i++) {
        struct past past;
        begin(&past);
        take_after(&past, 0);
        measure_step(&past, 10);
        double before = wall_now(&past) - 5; // the middle of the step
        marks_add(history_marks(past.history), (int64_t)past.snapshot->end_ns, MARK_PLAN, "another plan");
        reboot(&past, downs[i], 0);
        measure_step(&past, 40);
        double after = wall_now(&past) - 5;
        assert_true(near(at_wall(&past, "branch_mpki", false, before), 10));
        assert_true(near(at_wall(&past, "branch_mpki", false, after), 40));
        assert_int_equal(count_values(&past, "branch_mpki"), 2);
        assert_true(history_range(past.history, false).first < 0);
        const struct marks *marks = history_marks(past.history);
        double told = (double)(marks_get(marks, 0)->at_ns + history_wall_offset_ns(past.history)) * 1e-9;
        assert_true(fabs(told - before - 5) < 0.001);
        assert_int_equal(marks_get(marks, 1)->kind, MARK_GAP);
        assert_string_equal(marks_get(marks, 1)->text,
                            "the host was booted: nothing was measured until topdownd began");
        end(&past);
    }
}

static void test_long_steps_outlive_boots_and_the_day_ends(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0);
    measure_step(&past, 10);
    double first = wall_now(&past) - 5;
    reboot(&past, 7200, 0);
    measure_step(&past, 40);
    double second = wall_now(&past) - 5;
    reboot(&past, 3000, 0);
    measure_step(&past, 70);
    assert_true(near(at_wall(&past, "branch_mpki", true, wall_now(&past) - 5), 70));
    double found[2] = {0, 0}, walls[2] = {first, second};
    for (int i = 0; i < 2; i++) // right to half a step for each boot
        for (double by = -300; by <= 300; by += 150)
            found[i] = fmax(found[i], at_wall(&past, "branch_mpki", true, walls[i] + by));
    assert_true(near(found[0], 10) && near(found[1], 40));
    reboot(&past, 86400, 0);
    measure_step(&past, 90);
    assert_int_equal(count_values(&past, "branch_mpki"), 1);
    assert_int_equal(history_range(past.history, true).n, HISTORY_COARSE_N);
    end(&past);
}

// Clocks of hosts without a battery begin years ago, those that keep local time are off by hours, until NTP sets them.
static void test_a_wall_clock_that_is_set_after_the_boot_leaves_all_times_right(void **state) {
    (void)state;
    static const double aheads[] = {-1.6e9, -7200, -40, -3, 2, 33.3, 1200};
    for (size_t i = 0; i < sizeof aheads / sizeof aheads[0]; i++) {
        struct past past;
        begin(&past);
        take_after(&past, 0);
        measure_step(&past, 10);
        double before = wall_now(&past) - 5;
        marks_add(history_marks(past.history), (int64_t)past.snapshot->end_ns, MARK_PLAN, "another plan");
        reboot(&past, 94, aheads[i]);
        measure_step(&past, 40);
        double after = wall_now(&past) - 5 - aheads[i];                                 // as it was in truth
        assert_int_equal(count_values(&past, "branch_mpki"), aheads[i] > 3600 ? 1 : 2); // in their order
        set_clock(&past, -aheads[i]);
        assert_true(near(at_wall(&past, "branch_mpki", false, before), 10));
        assert_true(near(at_wall(&past, "branch_mpki", false, after), 40));
        assert_int_equal(count_values(&past, "branch_mpki"), 2);
        double told =
            (double)(marks_get(history_marks(past.history), 0)->at_ns + history_wall_offset_ns(past.history)) * 1e-9;
        assert_true(fabs(told - before - 5) < 1.001);
        end(&past);
    }
}

// NTP moves a clock by fractions of a second all the time. Half a step is where it would matter.
static void test_a_clock_that_is_kept_in_time_moves_no_steps(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0);
    measure_step(&past, 10);
    reboot(&past, 94, 0);
    measure_step(&past, 40);
    struct steps_range range = history_range(past.history, false);
    for (int i = 0; i < 60; i++) { // through half a step, wherever the boot has left it
        int64_t before = history_range(past.history, false).first;
        set_clock(&past, 0.3);
        int64_t ahead = history_range(past.history, false).first;
        set_clock(&past, -0.2);
        assert_true(history_range(past.history, false).first == ahead);
        assert_true(ahead == before || ahead == before - 1);
    }
    assert_true(history_range(past.history, false).first < range.first); // by six seconds in all
    end(&past);
}

static void test_a_restart_before_the_clock_is_set_knows_what_is_of_the_boot_before(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0);
    measure_step(&past, 10);
    double before = wall_now(&past) - 5;
    reboot(&past, 94, -7200);
    measure_step(&past, 40);
    double after = wall_now(&past) - 5 + 7200;
    restart(&past, 20);
    measure_step(&past, 70);
    double last = wall_now(&past) - 5 + 7200;
    set_clock(&past, 7200);
    assert_true(near(at_wall(&past, "branch_mpki", false, before), 10));
    assert_true(near(at_wall(&past, "branch_mpki", false, after), 40));
    assert_true(near(at_wall(&past, "branch_mpki", false, last), 70));
    assert_int_equal(count_values(&past, "branch_mpki"), 3);
    end(&past);
}

static void test_a_clock_that_is_set_without_a_boot_moves_all_times_as_before(void **state) {
    (void)state;
    struct past past;
    begin(&past);
    take_after(&past, 0);
    measure_step(&past, 10);
    struct steps_range range = history_range(past.history, false);
    set_clock(&past, 3600);
    assert_true(history_range(past.history, false).first == range.first);
    assert_true(near(value(&past, HISTORY_HOST, "branch_mpki", false, 1), 10));
    end(&past);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_restart_goes_on_with_the_past_and_leaves_the_time_between_empty),
        cmocka_unit_test(test_who_was_killed_is_not_said_to_have_slept),
        cmocka_unit_test(test_a_history_of_another_clock_is_not_gone_on_with),
        cmocka_unit_test(test_a_boot_is_a_gap_and_what_was_before_stays_at_its_time),
        cmocka_unit_test(test_long_steps_outlive_boots_and_the_day_ends),
        cmocka_unit_test(test_a_wall_clock_that_is_set_after_the_boot_leaves_all_times_right),
        cmocka_unit_test(test_a_clock_that_is_kept_in_time_moves_no_steps),
        cmocka_unit_test(test_a_restart_before_the_clock_is_set_knows_what_is_of_the_boot_before),
        cmocka_unit_test(test_a_clock_that_is_set_without_a_boot_moves_all_times_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
