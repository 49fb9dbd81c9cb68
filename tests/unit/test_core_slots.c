// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "core/base/random.h"
#include "core/counts/core_slots.h"

// A core's slots from those of its threads.

static struct core_thread thread(double all, double used, double front, double back, double contention) {
    return (struct core_thread){{all, used, front, back}, contention};
}

static void expect_share(const struct core_share *share, double all, double front, double back) {
    assert_true(fabs(share->slots[CORE_SLOTS_ALL] - all) < 1e-9);
    assert_true(fabs(share->slots[CORE_SLOTS_FRONTEND] - front) < 1e-9);
    assert_true(fabs(share->slots[CORE_SLOTS_BACKEND] - back) < 1e-9);
}

static void test_a_thread_without_a_sibling_has_the_slots_of_its_cycles(void **state) {
    (void)state;
    const struct core_clock clock = {1000, INFINITY};
    struct core_thread one = thread(600, 300, 100, 200, 0);
    struct core_share share;
    core_slots_divide(&one, 1, &clock, &share);
    expect_share(&share, 600, 100, 200);
    assert_true(share.errors[ROWS_ERROR_FRONTEND] == 0 && share.errors[ROWS_ERROR_BACKEND] == 0);
    one = thread(600, 300, 50, 100, 150); // the sibling is not measured: it got 150
    core_slots_divide(&one, 1, &clock, &share);
    expect_share(&share, 450, 50, 100);
    const struct core_thread none = {0};
    core_slots_divide(&none, 1, &clock, &share);
    expect_share(&share, 0, 0, 0);
}

static void test_two_busy_threads_have_the_slots_of_one_core(void **state) {
    (void)state;
    // each is served in half of the slots, and uses 200 of its 500
    const struct core_thread busy[] = {thread(1000, 200, 100, 200, 500), thread(1000, 200, 100, 200, 500)};
    struct core_share shares[2];
    core_slots_divide(busy, 2, &(struct core_clock){1000, 1000}, shares);
    for (size_t i = 0; i < 2; i++)
        expect_share(&shares[i], 500, 100, 200);
    core_slots_divide(busy, 2, &(struct core_clock){4000, INFINITY}, shares); // also when the clock is not known
    for (size_t i = 0; i < 2; i++)
        expect_share(&shares[i], 500, 100, 200);
    assert_true(shares[0].errors[ROWS_ERROR_FRONTEND] == 0);
}

static void test_a_sleeping_sibling_changes_nothing(void **state) {
    (void)state;
    const struct core_thread threads[] = {thread(800, 300, 100, 400, 0), {{0}, 0}};
    struct core_share shares[2];
    core_slots_divide(threads, 2, &(struct core_clock){1000, 1000}, shares);
    expect_share(&shares[0], 800, 100, 400);
    expect_share(&shares[1], 0, 0, 0);
    assert_true(shares[0].errors[ROWS_ERROR_BACKEND] == 0);
}

static void test_half_asleep_the_overlap_lies_between_its_bounds_with_an_error(void **state) {
    (void)state;
    // Each runs half of the time. 20 slots were lost to the other, so at least 20 overlap. Each wants 30 % of its
    // slots, so at most 20 / 0.09 = 222 of 500 do. Independent threads have 250 in common.
    const struct core_thread threads[] = {thread(500, 140, 100, 250, 10), thread(500, 140, 250, 100, 10)};
    struct core_share shares[2];
    core_slots_divide(threads, 2, &(struct core_clock){1000, INFINITY}, shares);
    double overlap = 1000 - shares[0].slots[CORE_SLOTS_ALL] - shares[1].slots[CORE_SLOTS_ALL];
    assert_true(fabs(overlap - 20 / 0.09) < 1e-9);
    double error = 0; // of an overlap anywhere between 20 and 222, if 222 is taken: their distance / sqrt(3)
    for (size_t i = 0; i < 2; i++)
        error += shares[i].errors[ROWS_ERROR_FRONTEND] + shares[i].errors[ROWS_ERROR_BACKEND];
    assert_true(fabs(error - (20 / 0.09 - 20) / sqrt(3)) < 1e-9);
    core_slots_divide(threads, 2, &(struct core_clock){2000, INFINITY}, shares); // a faster clock: 125 in common
    overlap = 1000 - shares[0].slots[CORE_SLOTS_ALL] - shares[1].slots[CORE_SLOTS_ALL];
    assert_true(fabs(overlap - 125) < 1e-9);
    core_slots_divide(threads, 2, &(struct core_clock){820, 820}, shares); // no more than 820 slots: at least 180
    overlap = 1000 - shares[0].slots[CORE_SLOTS_ALL] - shares[1].slots[CORE_SLOTS_ALL];
    assert_true(overlap >= 180 && overlap <= 20 / 0.09 + 1e-9);
}

// Whatever the counts are, also impossible ones: nothing is negative, and what is dispatched has its slots.
static void test_shares_of_any_counts_are_sound(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int turn = 0; turn < 20000; turn++) {
        struct core_thread threads[4];
        struct core_share shares[4];
        size_t n = 1 + random_below(&random, 4);
        double used = 0, all = 0, slots = 0, most = 0;
        for (size_t i = 0; i < n; i++) {
            double of[5];
            for (size_t v = 0; v < 5; v++)
                of[v] = random_below(&random, 4) == 0 ? 0 : (double)random_below(&random, 1000);
            threads[i] = thread(of[0], of[1], of[2], of[3], of[4]);
            used += of[1];
            all += of[0];
            most = fmax(most, of[0]);
        }
        const struct core_clock clock = {(double)random_below(&random, 2000),
                                         turn % 2 ? INFINITY : (double)random_below(&random, 2000)};
        core_slots_divide(threads, n, &clock, shares);
        for (size_t i = 0; i < n; i++) {
            const double *of = shares[i].slots;
            assert_true(of[CORE_SLOTS_FRONTEND] >= 0 && of[CORE_SLOTS_BACKEND] >= 0);
            assert_true(of[CORE_SLOTS_ALL] >= threads[i].slots[THREAD_SLOTS_USED]);
            assert_true(shares[i].errors[ROWS_ERROR_FRONTEND] >= 0 && shares[i].errors[ROWS_ERROR_BACKEND] >= 0);
            slots += of[CORE_SLOTS_ALL];
        }
        assert_true(slots <= fmax(all, used) + 1e-6);
        assert_true(n == 1 || slots >= fmax(most, used) - 1e-6);
    }
}

// Specs of earlier versions, for old recordings.
static void test_a_spec_whose_level_1_is_that_of_one_thread_still_loads(void **state) {
    (void)state;
    static const char text[] =
        "{\"product_configuration\": {\"product_name\": \"X\"}, \"topdownd\": {\"vendor\": \"V\", \"pmu\": \"cpu\", "
        "\"level1\": "
        "{\"pipeline_slots\": \"6 * C\", \"width\": 6, \"per_thread\": true, \"categories\": {\"retiring\": \"r\", "
        "\"smt_contention\": \"s\"}}}, \"events\": {\"C\": {\"code\": 1}, \"R\": {\"code\": 2}, \"S\": {\"code\": "
        "3}}, \"metrics\": {\"r\": {\"formula\": \"R / (6 * C)\", \"title\": \"r\", \"units\": \"share of slots\"}, "
        "\"s\": {\"formula\": \"S / (6 * C)\", \"title\": \"s\", \"units\": \"share of slots\"}}, \"groups\": "
        "{\"metrics\": {\"G\": {\"metrics\": [\"r\", \"s\"]}}}}";
    static struct errors errors;
    struct environment environment;
    struct catalog *catalog = NULL;
    environment_init(&environment);
    if (spec_json_parse("x.json", text, strlen(text), &environment, &errors, &catalog) < 0)
        fail_msg("%s", errors.items[0].text);
    assert_false(catalog->level1.per_thread);
    assert_int_equal(catalog->level1.n_categories, 2);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_without_a_sibling_has_the_slots_of_its_cycles),
        cmocka_unit_test(test_two_busy_threads_have_the_slots_of_one_core),
        cmocka_unit_test(test_a_sleeping_sibling_changes_nothing),
        cmocka_unit_test(test_half_asleep_the_overlap_lies_between_its_bounds_with_an_error),
        cmocka_unit_test(test_shares_of_any_counts_are_sound),
        cmocka_unit_test(test_a_spec_whose_level_1_is_that_of_one_thread_still_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
