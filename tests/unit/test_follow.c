// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "core/adapt/follow.h"

static const uint64_t SECOND_NS = 1000000000;

// A round of two event groups on two CPUs with these results, group by group.
static bool is_starving(const enum window_result results[4]) {
    const struct plan plan = {.n_groups = 2};
    struct window windows[4];
    for (unsigned i = 0; i < 4; i++)
        windows[i] = (struct window){
            .cpu = i % 2, .group = i / 2, .result = results[i], .running_ns = results[i] <= WINDOW_CONTENDED};
    const struct readings readings = {.windows = windows, .n_windows = 4};
    struct follow follow;
    follow_init(&follow, 6);
    follow_round(&follow, &plan, &readings);
    return follow.starving;
}

#define STARVING(...) is_starving((const enum window_result[]){__VA_ARGS__})

static void test_an_event_group_starves_where_no_cpu_had_it_on_the_counters(void **state) {
    (void)state;
    const enum window_result OK = WINDOW_COMPLETE, SHARED = WINDOW_CONTENDED, NONE = WINDOW_STARVED,
                             FAILED = WINDOW_FAILED;
    assert_false(STARVING(OK, OK, OK, OK));
    assert_false(STARVING(OK, OK, NONE, OK));
    assert_false(STARVING(NONE, SHARED, OK, NONE));
    assert_true(STARVING(OK, OK, NONE, NONE));
    assert_true(STARVING(NONE, NONE, OK, OK));
    assert_true(STARVING(OK, OK, NONE, FAILED));
    assert_false(STARVING(OK, OK, FAILED, FAILED)); // more counters would not help
}

static void test_starvation_is_looked_into_every_ten_seconds_and_growth_every_minute(void **state) {
    (void)state;
    struct follow follow;
    follow_init(&follow, 6);
    assert_false(follow_answer(&follow, 6, 1000 * SECOND_NS));
    assert_false(follow_should_probe(&follow, 9999 * SECOND_NS)); // all is well
    follow.starving = true;
    assert_false(follow_should_probe(&follow, 1010 * SECOND_NS));
    assert_true(follow_should_probe(&follow, 1010 * SECOND_NS + 1));
    assert_true(follow_answer(&follow, 2, 1011 * SECOND_NS));
    assert_int_equal(follow.counters, 2);
    follow.starving = false;
    assert_false(follow_should_probe(&follow, 1071 * SECOND_NS));
    assert_true(follow_should_probe(&follow, 1071 * SECOND_NS + 1));
    assert_true(follow_answer(&follow, 6, 1072 * SECOND_NS));
    assert_false(follow_should_probe(&follow, 9999 * SECOND_NS));
}

static void test_no_answer_and_no_counters_leave_all_as_it_was(void **state) {
    (void)state;
    struct follow follow;
    follow_init(&follow, 6);
    assert_false(follow_answer(&follow, 0, SECOND_NS));
    assert_false(follow_answer(&follow, -ENOMEM, SECOND_NS));
    assert_int_equal(follow.counters, 6);
    assert_true(follow.probed_ns == SECOND_NS);
}

static void test_more_counters_than_the_spec_states_are_taken(void **state) {
    (void)state;
    struct follow follow;
    follow_init(&follow, 6);
    assert_true(follow_answer(&follow, 8, SECOND_NS));
    assert_int_equal(follow.most_counters, 8);
    assert_true(follow_answer(&follow, 6, SECOND_NS));
    assert_true(follow_should_probe(&follow, 100 * SECOND_NS)); // to find the other two again
}

static void test_events_that_take_no_counters_are_never_probed_for(void **state) {
    (void)state;
    struct follow follow;
    follow_init(&follow, 0);
    follow.starving = true;
    assert_false(follow_should_probe(&follow, 1000 * SECOND_NS));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_group_starves_where_no_cpu_had_it_on_the_counters),
        cmocka_unit_test(test_starvation_is_looked_into_every_ten_seconds_and_growth_every_minute),
        cmocka_unit_test(test_no_answer_and_no_counters_leave_all_as_it_was),
        cmocka_unit_test(test_more_counters_than_the_spec_states_are_taken),
        cmocka_unit_test(test_events_that_take_no_counters_are_never_probed_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
