// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/derive_host.h"

#include <math.h>

#include "core/recording/recording.h"
#include "core/tally/plausible.h"

// Windows with counts and times that can be, and that cannot be.

#define MILLISECOND_NS UINT64_C(1000000)

static const uint64_t STEADY[] = {0, 3000000000, 200, 30, 4, 5}; // by catalog event, in a second
static void start(struct host *host) {
    static const char *const fixed[] = {"CYCLES"};
    struct catalog_builder *builder = plain_builder();
    struct fault fault;
    host_init(host, builder);
    assert_int_equal(catalog_builder_set_counters(builder, 4, fixed, 1, &fault), 0);
    metric_of(builder, "a", "A / CYCLES", NULL);
    metric_of(builder, "b", "(B + C + D) / CYCLES", NULL);
    group_of(builder, "G", "a b");
    host_start(host, 6);
    assert_int_equal(host->layout->plan->n_groups, 1);
}

// The group's place of an event.
static size_t place_of(const struct host *host, unsigned event) {
    const struct plan_group *group = &host->layout->plan->groups[0];
    size_t i = 0;
    while (group->events[i] != event)
        i++;
    return i;
}

static struct window *steady(struct host *host) {
    readings_begin(host->readings, 0, SECOND_NS);
    return window_of(host, 0, 0, STEADY);
}

static void judge(struct host *host, struct window *window, bool *doubtful) {
    plausible_judge(window, host->layout->plan, NULL, SECOND_NS, doubtful);
}

static void assert_refused(const struct host *host, const struct window *window) {
    assert_int_equal(window->result, WINDOW_IMPLAUSIBLE);
    for (size_t i = 0; i < host->layout->plan->groups[0].n_events; i++)
        assert_true(window->counts[i] == 0);
}

// In a second, and the millisecond of skew: at 10 GHz, 16 events a cycle with a counter of their own, 4,096 of another
// PMU, which may be sums over a socket, else 256.
static void test_counts_up_to_what_a_counter_can_count_are_believed(void **state) {
    (void)state;
    const struct {
        unsigned event, pmu;
        uint64_t most, next; // what is believed, and what is not
    } cases[] = {{CYCLES, 0, UINT64_C(160160000000), UINT64_C(160160000160)},
                 {A, 0, UINT64_C(2562560000000), UINT64_C(2562560002560)},
                 {A, 1, UINT64_C(41000960000000), UINT64_C(41000960040960)}};
    struct host host;
    start(&host);
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct catalog_event *event = &host.catalog->events[cases[i].event];
        assert_int_equal(event->fixed, cases[i].event == CYCLES);
        host.catalog->events[cases[i].event].code.pmu = cases[i].pmu;
        for (int beyond = 0; beyond < 2; beyond++) {
            struct window *window = steady(&host);
            bool doubtful = false;
            window->counts[place_of(&host, cases[i].event)] = beyond ? cases[i].next : cases[i].most;
            judge(&host, window, &doubtful);
            if (beyond)
                assert_refused(&host, window);
            else
                assert_int_equal(window->result, WINDOW_COMPLETE);
            assert_false(doubtful); // it did not fall: the next window has a base
            assert_true(window->enabled_ns == SECOND_NS && window->running_ns == SECOND_NS);
        }
    }
    host_deinit(&host);
}

// In a second, and the millisecond of skew.
static void test_a_limit_takes_the_place_of_what_counters_can_count(void **state) {
    (void)state;
    struct host host;
    start(&host);
    double most[6];
    const struct {
        double most;
        uint64_t count;
        enum window_result expected;
    } cases[] = {{1e6, 1001000, WINDOW_COMPLETE},
                 {1e6, 1001001, WINDOW_IMPLAUSIBLE},
                 {1e13, UINT64_C(10010000000000), WINDOW_COMPLETE}, // more than any other event may count
                 {INFINITY, UINT64_C(10010000000000), WINDOW_IMPLAUSIBLE},
                 {INFINITY, 1001001, WINDOW_COMPLETE},
                 {1e6, (uint64_t)-1, WINDOW_IMPLAUSIBLE}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct window *window = steady(&host);
        for (size_t e = 0; e < N_OF(most); e++)
            most[e] = INFINITY;
        most[place_of(&host, B)] = cases[i].most;
        window->counts[place_of(&host, B)] = cases[i].count;
        plausible_judge(window, host.layout->plan, most, SECOND_NS, NULL);
        assert_int_equal(window->result, cases[i].expected);
    }
    host_deinit(&host);
}

static void test_the_enabled_time_bounds_the_counts(void **state) {
    (void)state;
    struct host host;
    start(&host);
    struct window *window = steady(&host);
    window->enabled_ns = 20 * MILLISECOND_NS; // 143 cycles a nanosecond, with the skew
    window->running_ns = 5 * MILLISECOND_NS;
    window->result = WINDOW_CONTENDED;
    judge(&host, window, NULL);
    assert_int_equal(window->result, WINDOW_CONTENDED);
    window->enabled_ns = 17 * MILLISECOND_NS; // 167
    judge(&host, window, NULL);
    assert_refused(&host, window);
    host_deinit(&host);
}

static void test_a_jump_of_2_to_the_47_is_refused_and_the_next_window_is_not(void **state) {
    (void)state;
    struct host host;
    start(&host);
    bool doubtful = false;
    struct window *window = steady(&host);
    window->counts[place_of(&host, B)] += UINT64_C(1) << 47;
    judge(&host, window, &doubtful);
    assert_refused(&host, window);
    window = steady(&host);
    judge(&host, window, &doubtful);
    assert_int_equal(window->result, WINDOW_COMPLETE);
    host_deinit(&host);
}

static void test_after_counts_that_fell_the_next_window_has_no_base(void **state) {
    (void)state;
    struct host host;
    start(&host);
    bool doubtful = false;
    struct window *window = steady(&host);
    window->counts[place_of(&host, CYCLES)] -= UINT64_C(1) << 32;
    judge(&host, window, &doubtful);
    assert_refused(&host, window);
    assert_true(doubtful);
    window = steady(&host);
    window->result = WINDOW_STARVED; // nothing was counted: it is still open whether they come back
    window->running_ns = 0;
    judge(&host, window, &doubtful);
    assert_int_equal(window->result, WINDOW_STARVED);
    assert_true(doubtful);
    window = steady(&host);
    window->counts[place_of(&host, CYCLES)] += UINT64_C(1) << 32; // which a counter could count in a second
    judge(&host, window, &doubtful);
    assert_refused(&host, window);
    assert_false(doubtful);
    window = steady(&host);
    judge(&host, window, &doubtful);
    assert_int_equal(window->result, WINDOW_COMPLETE);
    host_deinit(&host);
}

static void test_times_that_cannot_be_are_refused_and_forgotten(void **state) {
    (void)state;
    const struct {
        uint64_t enabled_ns, running_ns;
        bool possible;
    } cases[] = {
        {SECOND_NS, SECOND_NS + MILLISECOND_NS, true},      // the kernel reads its clock twice
        {SECOND_NS, SECOND_NS + MILLISECOND_NS + 1, false}, // never longer on the counters than enabled
        {11 * SECOND_NS, SECOND_NS, true}, // the process stood still between its clock and the kernel's
        {11 * SECOND_NS + 1, SECOND_NS, false},
        {11 * SECOND_NS + 1, 0, false},
        {(uint64_t)-5, SECOND_NS, false}, // they fell
        {SECOND_NS, (uint64_t)-5, false},
        {(uint64_t)-5, (uint64_t)-5, false},
    };
    struct host host;
    start(&host);
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct window *window = steady(&host);
        window->enabled_ns = cases[i].enabled_ns;
        window->running_ns = cases[i].running_ns;
        window->result = cases[i].running_ns == 0                    ? WINDOW_STARVED
                         : cases[i].running_ns < cases[i].enabled_ns ? WINDOW_CONTENDED
                                                                     : WINDOW_COMPLETE;
        judge(&host, window, NULL);
        assert_int_equal(window->result != WINDOW_IMPLAUSIBLE, cases[i].possible);
        assert_true(window->enabled_ns == (cases[i].possible ? cases[i].enabled_ns : 0));
        assert_true(window->running_ns == (cases[i].possible ? cases[i].running_ns : 0));
    }
    host_deinit(&host);
}

static void test_a_failed_window_stays_what_it_is(void **state) {
    (void)state;
    struct host host;
    start(&host);
    bool doubtful = true;
    struct window *window = steady(&host);
    fail_window(window, WINDOW_FAILED, -EIO);
    window->enabled_ns = (uint64_t)-5;
    judge(&host, window, &doubtful);
    assert_int_equal(window->result, WINDOW_FAILED);
    assert_true(doubtful);
    host_deinit(&host);
}

static void test_an_implausible_window_is_no_data_and_named(void **state) {
    (void)state;
    struct host host;
    start(&host);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        (void)window_of(&host, cpu, 0, STEADY);
    end_round(&host, 1);
    struct window *window = window_of(&host, 0, 0, STEADY);
    window->counts[place_of(&host, A)] -= 1000;
    judge(&host, window, NULL);
    (void)window_of(&host, 1, 0, STEADY);
    end_round(&host, 1);
    expect_absent(&host, cpu_scope(&host, 0), "a", ABSENT_FAILED);
    expect(&host, cpu_scope(&host, 1), "a", 200 / 3e9);
    expect(&host, 0, "a", 200 / 3e9); // what the other CPU counted
    assert_true(host.snapshot->values[snapshot_windows(host.layout, 0, WINDOW_IMPLAUSIBLE)] == 1);
    assert_true(host.snapshot->values[snapshot_windows(host.layout, 0, WINDOW_COMPLETE)] == 3);
    host_deinit(&host);
}

// A daemon that did not judge recorded the second window.
static struct readings *replayed(struct host *host, bool added_up) {
    struct recording_buffer bytes = {0};
    struct recording_record record;
    struct readings *readings;
    size_t at = 0;
    double seconds;
    (void)steady(host);
    struct window *window = window_of(host, 1, 0, STEADY);
    window->counts[place_of(host, A)] -= 1000;
    host->readings->end_ns = 2 * SECOND_NS;
    assert_int_equal(recording_put_round(&bytes, host->readings, host->layout->plan, 5), 0);
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    assert_int_equal(
        recording_get_round(&record, host->layout->plan, host->layout->topology, added_up, &seconds, &readings), 0);
    recording_buffer_deinit(&bytes);
    return readings;
}

static void test_recorded_counts_that_cannot_be_are_refused_except_in_logs_of_perf(void **state) {
    (void)state;
    struct host host;
    start(&host);
    struct readings *readings = replayed(&host, false);
    assert_int_equal(readings->windows[0].result, WINDOW_COMPLETE);
    assert_refused(&host, &readings->windows[1]);
    readings_free(readings);
    readings = replayed(&host, true);
    assert_int_equal(readings->windows[1].result, WINDOW_COMPLETE);
    readings_free(readings);
    host_deinit(&host);
}

static void test_a_recording_keeps_that_a_window_was_implausible(void **state) {
    (void)state;
    struct recording_buffer bytes = {0};
    struct recording_record record;
    struct readings *readings;
    size_t at = 0;
    double seconds;
    struct host host;
    start(&host);
    struct window *window = steady(&host);
    window->counts[place_of(&host, A)] -= 1000;
    judge(&host, window, NULL);
    (void)window_of(&host, 1, 0, STEADY);
    host.readings->end_ns = 2 * SECOND_NS;
    assert_int_equal(recording_put_round(&bytes, host.readings, host.layout->plan, 5), 0);
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    assert_int_equal(recording_get_round(&record, host.layout->plan, host.layout->topology, false, &seconds, &readings),
                     0);
    assert_int_equal(readings->windows[0].result, WINDOW_IMPLAUSIBLE);
    assert_true(readings->windows[0].enabled_ns == SECOND_NS);
    assert_int_equal(readings->windows[1].result, WINDOW_COMPLETE);
    assert_true(readings->windows[1].counts[place_of(&host, A)] == STEADY[A]);
    readings_free(readings);
    recording_buffer_deinit(&bytes);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_up_to_what_a_counter_can_count_are_believed),
        cmocka_unit_test(test_a_limit_takes_the_place_of_what_counters_can_count),
        cmocka_unit_test(test_the_enabled_time_bounds_the_counts),
        cmocka_unit_test(test_a_jump_of_2_to_the_47_is_refused_and_the_next_window_is_not),
        cmocka_unit_test(test_after_counts_that_fell_the_next_window_has_no_base),
        cmocka_unit_test(test_times_that_cannot_be_are_refused_and_forgotten),
        cmocka_unit_test(test_a_failed_window_stays_what_it_is),
        cmocka_unit_test(test_an_implausible_window_is_no_data_and_named),
        cmocka_unit_test(test_recorded_counts_that_cannot_be_are_refused_except_in_logs_of_perf),
        cmocka_unit_test(test_a_recording_keeps_that_a_window_was_implausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
