// SPDX-License-Identifier: Apache-2.0
//
// "It waits for memory: do I need more bandwidth, or shorter ways?" The rule, for a memory that can move 100 GB/s. What
// pages say of it is in test_view_waits.c.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "core/diagnosis/waits.h"

static const double PEAK = 1e11;

static enum waits_lack of(enum catalog_waits waits, double per_cent) {
    return waits_judge(waits, per_cent / 100 * PEAK, PEAK);
}

static void test_near_the_peak_bandwidth_is_short_whatever_the_core_sees(void **state) {
    (void)state;
    for (int waits = WAITS_NONE + 1; waits < WAITS_N; waits++) {
        assert_int_equal(of((enum catalog_waits)waits, 70.1), WAITS_LACK_BANDWIDTH);
        assert_int_equal(of((enum catalog_waits)waits, 104.9), WAITS_LACK_BANDWIDTH); // a rounded rating
    }
}

static void test_far_from_the_peak_it_is_latency_unless_it_may_be_execution(void **state) {
    (void)state;
    for (int waits = WAITS_NONE + 1; waits < WAITS_N; waits++)
        for (double per_cent = 0; per_cent < 40; per_cent += 13)
            assert_int_equal(of((enum catalog_waits)waits, per_cent),
                             waits == WAITS_BACK_END ? WAITS_LACK_OPEN : WAITS_LACK_LATENCY);
}

static void test_between_the_limits_it_stays_open(void **state) {
    (void)state;
    for (int waits = WAITS_NONE; waits < WAITS_N; waits++)
        for (double per_cent = 40.1; per_cent < 70; per_cent += 9.9)
            assert_int_equal(of((enum catalog_waits)waits, per_cent), WAITS_LACK_OPEN);
}

// More than memory can move, a peak that nobody knows, and counts that are missing tell nothing.
static void test_nothing_follows_from_a_peak_that_cannot_be_right(void **state) {
    (void)state;
    for (int waits = WAITS_NONE; waits < WAITS_N; waits++) {
        assert_int_equal(of((enum catalog_waits)waits, 105.1), WAITS_LACK_OPEN);
        assert_int_equal(waits_judge((enum catalog_waits)waits, PEAK, NAN), WAITS_LACK_OPEN);
        assert_int_equal(waits_judge((enum catalog_waits)waits, NAN, PEAK), WAITS_LACK_OPEN);
    }
    assert_int_equal(waits_bus(1.051 * PEAK, PEAK), WAITS_BUS_BEYOND);
    assert_int_equal(waits_bus(PEAK, NAN), WAITS_BUS_BETWEEN);
}

static void test_what_does_not_wait_for_memory_lacks_none_of_it(void **state) {
    (void)state;
    assert_int_equal(of(WAITS_NONE, 95), WAITS_LACK_OPEN);
    assert_int_equal(of(WAITS_NONE, 5), WAITS_LACK_OPEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_the_peak_bandwidth_is_short_whatever_the_core_sees),
        cmocka_unit_test(test_far_from_the_peak_it_is_latency_unless_it_may_be_execution),
        cmocka_unit_test(test_between_the_limits_it_stays_open),
        cmocka_unit_test(test_nothing_follows_from_a_peak_that_cannot_be_right),
        cmocka_unit_test(test_what_does_not_wait_for_memory_lacks_none_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
