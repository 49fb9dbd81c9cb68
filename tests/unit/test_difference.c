// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/base/student.h"
#include "core/compare/difference.h"

// Stretches whose batches are made up: what is found where nothing has changed, and where something has.

enum { TRIALS = 1000, METRICS = 30 };

static double normal(uint64_t *random) { // of variance 1
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_unit(random);
    return sum;
}

static struct stretch make(struct stretch_series *series, size_t n, size_t batches) {
    for (size_t i = 0; i < n; i++)
        series[i] = (struct stretch_series){.name = "m", .definition = "", .id = (unsigned)i, .k = 1};
    return (struct stretch){.series = series, .n = n, .n_batches = batches, .begun = true};
}

// Fills batches with a quotient around `value`, from `steps` values in a row that each keep the part `memory` of the
// one before.
static void fill(struct stretch_series *series, size_t batches, double value, double noise, double memory,
                 unsigned steps, uint64_t *random) {
    double state = normal(random), rest = sqrt(1 - memory * memory);
    for (size_t i = 0; i < batches; i++) {
        series->batches[i] = (struct stretch_batch){0, 0};
        for (unsigned k = 0; k < steps; k++) {
            double b = 1 + 0.3 * normal(random) / 2;
            state = memory * state + rest * normal(random);
            series->batches[i].a += value * (1 + noise * state) * b;
            series->batches[i].b += b;
        }
    }
}

static size_t findings(const struct difference *all, size_t n) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += all[i].verdict >= DIFFERENCE_CHANGED;
    return found;
}

// How many trials of METRICS metrics find anything, where the first metric of the second stretch is `factor` times as
// large; *right: how many find that one.
static unsigned compare_all(double factor, double noise, double memory, unsigned steps, unsigned *right) {
    static struct stretch_series series[2][METRICS];
    uint64_t random = 20261122;
    unsigned wrong = 0;
    *right = 0;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct stretch stretches[2];
        struct difference *all;
        size_t n;
        for (int s = 0; s < 2; s++) {
            stretches[s] = make(series[s], METRICS, DIFFERENCE_BATCHES);
            for (size_t m = 0; m < METRICS; m++)
                fill(&series[s][m], DIFFERENCE_BATCHES, s == 1 && m == 0 ? factor : 1, noise, memory, steps, &random);
        }
        assert_int_equal(difference_find(&stretches[0], &stretches[1], &all, &n), 0);
        assert_int_equal(n, METRICS);
        size_t found = findings(all, n), first = findings(all, 1);
        wrong += found > (factor != 1 ? first : 0);
        *right += first > 0;
        free(all);
    }
    return wrong;
}

static void test_where_nothing_has_changed_one_comparison_in_twenty_finds_something(void **state) {
    unsigned right, independent, lasting;
    (void)state;
    independent = compare_all(1, 0.05, 0, 4, &right);
    lasting = compare_all(1, 0.05, 0.5, 8, &right); // what lasts for a part of a batch
    print_message("%u and %u of %d comparisons find something\n", independent, lasting, TRIALS);
    assert_in_range(independent, TRIALS * 2 / 100, TRIALS * 7 / 100);
    assert_in_range(lasting, TRIALS * 2 / 100, TRIALS * 12 / 100);
}

static void test_a_change_of_3_percent_is_found_where_intervals_vary_by_3(void **state) {
    unsigned right, wrong;
    (void)state;
    wrong = compare_all(0.97, 0.03, 0, 4, &right);
    print_message("found in %u of %d comparisons, with others in %u\n", right, TRIALS, wrong);
    assert_true(right > TRIALS * 95 / 100 && wrong < TRIALS * 7 / 100);
}

static void test_tails_are_those_of_the_tables(void **state) {
    // two-sided 5, 1 and 0.1 % points
    static const struct {
        double degrees, t, p;
    } rows[] = {{1, 12.7062, 0.05}, {1, 63.6567, 0.01}, {5, 2.5706, 0.05},   {5, 6.8688, 0.001},
                {15, 2.9467, 0.01}, {30, 2.0423, 0.05}, {30, 3.6460, 0.001}, {7.5, 0, 1}};
    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        assert_true(fabs(student_tails(rows[i].t, rows[i].degrees) - rows[i].p) < 1e-3 * rows[i].p + 1e-12);
        assert_true(student_tails(-rows[i].t, rows[i].degrees) == student_tails(rows[i].t, rows[i].degrees));
    }
    assert_true(student_tails(1e6, 10) < 1e-30 && student_tails(1e6, 10) >= 0);
}

static void test_the_interval_holds_the_true_difference_19_times_in_20(void **state) {
    static struct stretch_series series[2][1];
    uint64_t random = 7;
    unsigned held = 0;
    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct stretch stretches[2] = {make(series[0], 1, 16), make(series[1], 1, 9)};
        struct difference *all;
        size_t n;
        fill(&series[0][0], 16, 2, 0.02, 0, 4, &random);
        fill(&series[1][0], 9, 3, 0.2, 0, 4, &random);
        assert_int_equal(difference_find(&stretches[0], &stretches[1], &all, &n), 0);
        held += all[0].low <= 1 && 1 <= all[0].high;
        free(all);
    }
    print_message("%u of %d\n", held, TRIALS);
    assert_in_range(held, TRIALS * 92 / 100, TRIALS * 98 / 100);
}

static enum difference_verdict verdict_of(double before, double after, size_t batches, struct stretch_series like) {
    struct stretch_series series[2] = {like, like};
    uint64_t random = 3;
    struct difference *all;
    size_t n;
    for (int s = 0; s < 2; s++)
        fill(&series[s], batches, s == 0 ? before : after, 1e-3, 0, 2, &random);
    struct stretch stretches[2] = {{.series = &series[0], .n = 1, .n_batches = batches},
                                   {.series = &series[1], .n = 1, .n_batches = batches}};
    assert_int_equal(difference_find(&stretches[0], &stretches[1], &all, &n), 0);
    enum difference_verdict verdict = all[0].verdict;
    assert_true(difference_is_regression(&all[0]) == (verdict == DIFFERENCE_WORSE && like.outcome));
    free(all);
    return verdict;
}

static void test_what_is_better_depends_on_the_metric(void **state) {
    struct stretch_series series = {
        .name = "ipc", .definition = "", .k = 1, .better = STRETCH_HIGHER_IS_BETTER, .outcome = true};
    (void)state;
    assert_int_equal(verdict_of(2, 1.9, 16, series), DIFFERENCE_WORSE);
    assert_int_equal(verdict_of(2, 2.1, 16, series), DIFFERENCE_BETTER);
    series.better = STRETCH_LOWER_IS_BETTER;
    series.outcome = false;
    assert_int_equal(verdict_of(2, 1.9, 16, series), DIFFERENCE_BETTER);
    assert_int_equal(verdict_of(2, 2.1, 16, series), DIFFERENCE_WORSE);
    series.better = STRETCH_NEITHER;
    assert_int_equal(verdict_of(2, 2.1, 16, series), DIFFERENCE_CHANGED);
    assert_int_equal(verdict_of(2, 3, DIFFERENCE_BATCHES_MIN - 1, series), DIFFERENCE_TOO_SHORT);
}

static void test_constants_differ_or_they_do_not_and_what_is_defined_otherwise_is_not_compared(void **state) {
    struct stretch_series series[2] = {{.name = "m", .definition = "x", .k = 1},
                                       {.name = "m", .definition = "x", .k = 1}};
    struct difference *all;
    size_t n;
    (void)state;
    for (int other = 0; other < 3; other++) {
        for (size_t i = 0; i < 8; i++) {
            series[0].batches[i] = (struct stretch_batch){0, 1};
            series[1].batches[i] = (struct stretch_batch){other == 1 ? 2 : 0, 1};
        }
        series[1].definition = other == 2 ? "y" : "x";
        struct stretch stretches[2] = {{.series = &series[0], .n = 1, .n_batches = 8},
                                       {.series = &series[1], .n = 1, .n_batches = 8}};
        assert_int_equal(difference_find(&stretches[0], &stretches[1], &all, &n), 0);
        assert_int_equal(all[0].verdict, other == 0   ? DIFFERENCE_NOT_TOLD_APART
                                         : other == 1 ? DIFFERENCE_CHANGED
                                                      : DIFFERENCE_OTHER_DEFINITION);
        free(all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_nothing_has_changed_one_comparison_in_twenty_finds_something),
        cmocka_unit_test(test_a_change_of_3_percent_is_found_where_intervals_vary_by_3),
        cmocka_unit_test(test_tails_are_those_of_the_tables),
        cmocka_unit_test(test_the_interval_holds_the_true_difference_19_times_in_20),
        cmocka_unit_test(test_what_is_better_depends_on_the_metric),
        cmocka_unit_test(test_constants_differ_or_they_do_not_and_what_is_defined_otherwise_is_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
