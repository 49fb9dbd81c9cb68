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
    struct window windows[4];
    for (unsigned i = 0; i < 4; i++)
        windows[i] = (struct window){
            .cpu = i % 2, .group = i / 2, .result = results[i], .running_ns = results[i] <= WINDOW_CONTENDED};
    const struct readings readings = {.windows = windows, .n_windows = 4};
    struct follow follow;
    follow_init(&follow, 6);
    follow_round(&follow, &readings);
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

// A round that ended at `end_ns` in which event group `group` starved; -1: none did.
static void round_over(struct follow *follow, int group, uint64_t end_ns) {
    struct window windows[2];
    for (int g = 0; g < 2; g++)
        windows[g] = (struct window){
            .group = (unsigned)g, .result = g == group ? WINDOW_STARVED : WINDOW_COMPLETE, .running_ns = g != group};
    const struct readings readings = {.windows = windows, .n_windows = 2, .end_ns = end_ns};
    follow_round(follow, &readings);
}

// Steps second by second from `*now_ns` until a probe is due; returns how many seconds that took.
static uint64_t seconds_to_probe(struct follow *follow, int group, uint64_t *now_ns) {
    uint64_t begin_ns = *now_ns;
    do {
        *now_ns += SECOND_NS;
        round_over(follow, group, *now_ns);
    } while (!follow_should_probe(follow, *now_ns) && *now_ns - begin_ns < 10000 * SECOND_NS);
    return (*now_ns - begin_ns) / SECOND_NS;
}

static void test_probes_with_the_same_answer_get_rarer_from_ten_seconds_to_an_hour(void **state) {
    (void)state;
    static const uint64_t waits[] = {11, 11, 21, 41, 81, 161, 321, 641, 1281, 2561, 3601, 3601};
    for (int starved = -1; starved <= 0; starved++) { // counters are missing; an event group starves
        struct follow follow;
        uint64_t now_ns = 1000 * SECOND_NS;
        follow_init(&follow, 6);
        assert_int_equal(follow_answer(&follow, starved < 0 ? 4 : 8, now_ns), true);
        for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
            assert_int_equal(seconds_to_probe(&follow, starved, &now_ns), waits[i]);
            assert_false(follow_answer(&follow, starved < 0 ? 4 : 8, now_ns));
        }
        assert_int_equal(seconds_to_probe(&follow, 1, &now_ns), 11); // another one
        assert_true(follow_answer(&follow, 3, now_ns));
        assert_int_equal(seconds_to_probe(&follow, -1, &now_ns), 11); // another answer
        assert_true(follow_answer(&follow, 8, now_ns));
        assert_int_equal(seconds_to_probe(&follow, -1, &now_ns), 10000); // all is well
    }
}

static void test_starvation_that_comes_and_goes_with_each_round_is_no_news(void **state) {
    (void)state;
    struct follow follow;
    uint64_t now_ns = 1000 * SECOND_NS, probes = 0;
    follow_init(&follow, 6);
    assert_false(follow_answer(&follow, 6, now_ns));
    for (uint64_t round = 0; round < 1000; round++, now_ns += SECOND_NS) {
        round_over(&follow, round % 2 == 0 ? 0 : -1, now_ns);
        if (!follow_should_probe(&follow, now_ns))
            continue;
        assert_false(follow_answer(&follow, 6, now_ns));
        probes++;
    }
    assert_int_equal(probes, 7); // after 12, 24, 46, 88, 170, 332 and 654 seconds: every other one has a starving round
    now_ns += 2000 * SECOND_NS;
    assert_int_equal(seconds_to_probe(&follow, 0, &now_ns), 1); // the same one after a calm time
}

// A round need not have windows of every group: what is known of the others stays.
static void test_a_group_starves_until_windows_of_its_own_say_otherwise(void **state) {
    (void)state;
    struct follow follow;
    struct plan_unit units[2] = {{.slots = 1, .n_groups = 1}, {.slots = 1, .n_groups = 1}};
    struct plan_group groups[] = {{.unit = 0}, {.unit = 1}};
    const struct plan plan = {
        .groups = groups, .n_groups = 2, .units = units, .n_units = 2, .common_unit = -1, .level1_unit = -1};
    struct window windows[] = {{.group = 1, .result = WINDOW_STARVED}, {.group = 0, .running_ns = 1}};
    const struct readings both = {.windows = windows, .n_windows = 2}, other = {.windows = windows + 1, .n_windows = 1};
    follow_init(&follow, 6);
    follow_round(&follow, &both);
    follow_round(&follow, &other);
    assert_true(follow_group_starves(&follow, 1) && !follow_group_starves(&follow, 0) &&
                follow_some_run(&follow, &plan));
    units[0].slots = 0; // it counts all the time, and tells nothing of the counters
    assert_false(follow_some_run(&follow, &plan));
    units[0].slots = 1;
    windows[1].group = 1;
    follow_round(&follow, &other);
    assert_false(follow_group_starves(&follow, 1));
    follow_round(&follow, &both); // on one CPU, not on the other
    assert_false(follow.starving);
    windows[1].group = 0;
    follow_round(&follow, &both);
    assert_true(follow.starving);
    struct readings cohort = {.windows = windows + 1, .n_windows = 1, .by_core = true};
    windows[1].group = 1; // on one CPU now, and later in the same round not on the others
    follow_round(&follow, &cohort);
    assert_true(follow.starving); // the round is not over
    cohort.windows = windows;
    cohort.round_over = true;
    follow_round(&follow, &cohort);
    assert_false(follow.starving);
    follow_round(&follow, &cohort);
    assert_true(follow.starving);
    follow_plan_changed(&follow);
    assert_false(follow_group_starves(&follow, 1) || follow_some_run(&follow, &plan));
}

static void test_no_answer_and_no_counters_leave_all_as_it_was(void **state) {
    (void)state;
    struct follow follow;
    follow_init(&follow, 6);
    assert_false(follow_answer(&follow, 0, SECOND_NS));
    assert_false(follow_answer(&follow, -ENOMEM, SECOND_NS));
    assert_int_equal(follow.counters, 6);
    assert_true(follow.probe.looked_ns == SECOND_NS);
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
        cmocka_unit_test(test_probes_with_the_same_answer_get_rarer_from_ten_seconds_to_an_hour),
        cmocka_unit_test(test_starvation_that_comes_and_goes_with_each_round_is_no_news),
        cmocka_unit_test(test_a_group_starves_until_windows_of_its_own_say_otherwise),
        cmocka_unit_test(test_no_answer_and_no_counters_leave_all_as_it_was),
        cmocka_unit_test(test_more_counters_than_the_spec_states_are_taken),
        cmocka_unit_test(test_events_that_take_no_counters_are_never_probed_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
