// SPDX-License-Identifier: Apache-2.0
// Loads of the simulated host: counts against integrals worked out by hand.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "collectors/sim/sim_load.h"
#include "tests/build/build.h"

enum { EVENT_A = 1, EVENT_B = 2 };
static const uint64_t SECOND_NS = 1000000000;

static void assert_near(double value, double expected, double error) { assert_true(fabs(value - expected) <= error); }

static int make_catalog(void **state) {
    struct fault error;
    struct catalog_builder *builder = builder_for("p");
    assert_int_equal(catalog_builder_add_event(builder, "A", "", 1, &error), EVENT_A);
    assert_int_equal(catalog_builder_add_event(builder, "B", "", 2, &error), EVENT_B);
    struct catalog *catalog = catalog_builder_finish(builder);
    *state = catalog;
    return 0;
}

static int free_catalog(void **state) {
    catalog_free(*state);
    return 0;
}

static struct sim_load *make_load(const struct catalog *catalog, struct scenario_keyframe *keyframes, size_t n,
                                  double period_seconds) {
    struct scenario_load source = {.keyframes = keyframes, .n_keyframes = n, .period_seconds = period_seconds};
    const char *event = NULL;
    struct sim_load *load = NULL;
    assert_int_equal(sim_load_new(&source, catalog, &event, &load), 0);
    return load;
}

static double count(const struct sim_load *load, unsigned event, uint64_t from_ns, uint64_t to_ns) {
    struct sim_count counted = {0};
    sim_load_count(load, from_ns, to_ns, &event, 1, &counted);
    return (double)counted.whole + counted.rest;
}

// A from 0 to 1e9 a second within 4 s, and back within the other 4 s of its period; B falls from 300 to 100 and rises
// again.
static struct sim_load *make_triangle(const struct catalog *catalog) {
    struct scenario_rate begin[] = {{"A", 0}, {"B", 300}}, top[] = {{"B", 100}, {"A", 1e9}};
    struct scenario_keyframe keyframes[] = {{.at_seconds = 0, .rates = begin, .n_rates = 2},
                                            {.at_seconds = 4, .rates = top, .n_rates = 2}};
    return make_load(catalog, keyframes, 2, 8);
}

static void test_a_steady_load_counts_rate_times_time_exactly(void **state) {
    struct scenario_rate rates[] = {{"A", 1e10}, {"B", 3}};
    struct scenario_keyframe keyframe = {.at_seconds = 0, .rates = rates, .n_rates = 2};
    struct sim_load *load = make_load(*state, &keyframe, 1, 60);
    struct sim_count counts[2] = {{0}};
    const unsigned events[] = {EVENT_B, EVENT_A};
    sim_load_count(load, 12345, 12345 + 200000000, events, 2, counts);
    assert_true(counts[0].whole == 1 && fabs(counts[0].rest + 0.4) < 1e-12); // 0.6
    assert_int_equal(counts[1].whole, 2000000000);
    sim_load_free(load);
}

static void test_a_ramp_counts_its_triangle(void **state) {
    struct sim_load *load = make_triangle(*state);
    assert_near(count(load, EVENT_A, 0, 1 * SECOND_NS), 0.125e9, 1e-6);
    assert_near(count(load, EVENT_A, 1 * SECOND_NS, 3 * SECOND_NS), 1e9, 1e-6);
    assert_near(count(load, EVENT_A, 0, 4 * SECOND_NS), 2e9, 1e-6);
    assert_near(count(load, EVENT_A, 3 * SECOND_NS, 5 * SECOND_NS), 1.75e9, 1e-6);
    assert_near(count(load, EVENT_B, 0, 4 * SECOND_NS), 800, 1e-9);
    sim_load_free(load);
}

static void test_the_last_keyframe_leads_back_to_the_first_at_the_periods_end(void **state) {
    struct sim_load *load = make_triangle(*state);
    assert_near(count(load, EVENT_A, 7 * SECOND_NS, 8 * SECOND_NS), 0.125e9, 1e-6);
    assert_near(count(load, EVENT_A, 7 * SECOND_NS, 9 * SECOND_NS), 0.25e9, 1e-6);
    assert_near(count(load, EVENT_A, 0, 80 * SECOND_NS), 40e9, 1e-5);
    assert_near(count(load, EVENT_A, 7 * SECOND_NS, 25 * SECOND_NS), 0.125e9 + 8e9 + 0.125e9, 1e-5);
    sim_load_free(load);
}

static void test_keyframes_at_one_place_or_at_the_periods_end_are_a_jump(void **state) {
    struct scenario_rate low[] = {{"A", 100}}, high[] = {{"A", 900}};
    struct scenario_keyframe keyframes[] = {{.at_seconds = 0, .rates = low, .n_rates = 1},
                                            {.at_seconds = 1, .rates = low, .n_rates = 1},
                                            {.at_seconds = 1, .rates = high, .n_rates = 1},
                                            {.at_seconds = 2, .rates = high, .n_rates = 1}};
    struct sim_load *load = make_load(*state, keyframes, 4, 2);
    assert_near(count(load, EVENT_A, 0, SECOND_NS), 100, 1e-9);
    assert_near(count(load, EVENT_A, SECOND_NS, 2 * SECOND_NS), 900, 1e-9);
    assert_near(count(load, EVENT_A, 2 * SECOND_NS - 500000000, 3 * SECOND_NS), 550, 1e-9);
    assert_near(count(load, EVENT_A, 0, 20 * SECOND_NS), 10000, 1e-9);
    sim_load_free(load);
}

static void test_an_event_that_a_keyframe_does_not_name_happens_0_times_there(void **state) {
    struct scenario_rate a[] = {{"A", 100}};
    struct scenario_keyframe keyframes[] = {{.at_seconds = 0, .rates = a, .n_rates = 1},
                                            {.at_seconds = 1, .rates = NULL, .n_rates = 0}};
    struct sim_load *load = make_load(*state, keyframes, 2, 2);
    assert_near(count(load, EVENT_A, 0, 2 * SECOND_NS), 100, 1e-9);
    assert_true(count(load, EVENT_B, 0, 2 * SECOND_NS) == 0);
    sim_load_free(load);
}

static void test_idleness_makes_no_events_but_time_goes_on(void **state) {
    struct sim_load *load = NULL;
    assert_int_equal(sim_load_new(NULL, *state, NULL, &load), 0);
    assert_true(count(load, EVENT_A, 0, 5 * SECOND_NS) == 0);
    assert_true(count(load, CATALOG_CPU_SECONDS, 0, 5 * SECOND_NS) == 5);
    sim_load_free(load);
}

static void test_a_load_that_is_ahead_or_behind_begins_within_its_period(void **state) {
    struct sim_load *load = make_triangle(*state);
    assert_int_equal(sim_load_phase_ns(load, 0), 0);
    assert_int_equal(sim_load_phase_ns(load, 3), 3 * SECOND_NS);
    assert_int_equal(sim_load_phase_ns(load, 19), 3 * SECOND_NS);
    assert_int_equal(sim_load_phase_ns(load, -1), 7 * SECOND_NS);
    assert_int_equal(sim_load_phase_ns(load, -16), 0);
    sim_load_free(load);
}

static void test_small_steps_add_up_to_one_large_one(void **state) {
    struct sim_load *load = make_triangle(*state);
    const unsigned events[] = {EVENT_A, EVENT_B};
    struct sim_count fine[2] = {{0}}, coarse[2] = {{0}};
    uint64_t at_ns = 0, seed = 20240229;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < 200000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t next_ns = at_ns + (seed >> 33) % 5000000;
        uint64_t before = fine[0].whole;
        sim_load_count(load, at_ns, next_ns, events, 2, fine);
        assert_true(fine[0].whole >= before);
        at_ns = next_ns;
    }
    sim_load_count(load, 0, at_ns, events, 2, coarse);
    for (unsigned i = 0; i < 2; i++) {
        double difference = (double)(int64_t)(fine[i].whole - coarse[i].whole) + fine[i].rest - coarse[i].rest;
        assert_true(fabs(difference) < 0.01);
    }
    sim_load_free(load);
}

static void test_a_window_is_exact_after_a_year(void **state) {
    // From 0 to 2e10 within the hour, and back at once: at second x of the hour the rate is x / 3600 * 2e10.
    struct scenario_rate low[] = {{"A", 0}}, high[] = {{"A", 2e10}};
    struct scenario_keyframe keyframes[] = {{.at_seconds = 0, .rates = low, .n_rates = 1},
                                            {.at_seconds = 3600, .rates = high, .n_rates = 1}};
    struct sim_load *load = make_load(*state, keyframes, 2, 3600);
    const uint64_t year_ns = 365 * 24 * 3600 * SECOND_NS; // a whole number of hours
    const unsigned event = EVENT_A;
    struct sim_count total = {0};
    sim_load_count(load, 0, year_ns, &event, 1, &total);
    assert_true(total.whole == UINT64_C(8760) * 36000000000000); // 2e10 * 3600 / 2 an hour
    for (unsigned slot = 1; slot < 18000; slot += 7) {
        double middle_seconds = slot * 0.2 + 0.1, truth = middle_seconds / 3600 * 2e10 * 0.2;
        uint64_t from_ns = year_ns + slot * UINT64_C(200000000);
        assert_true(fabs(count(load, EVENT_A, from_ns, from_ns + 200000000) / truth - 1) < 1e-12);
    }
    sim_load_free(load);
}

static void check_refused(const struct catalog *catalog, struct scenario_rate rate) {
    struct scenario_keyframe keyframe = {.at_seconds = 0, .rates = &rate, .n_rates = 1};
    struct scenario_load source = {.keyframes = &keyframe, .n_keyframes = 1, .period_seconds = 1};
    const char *event = NULL;
    struct sim_load *load = NULL;
    assert_int_equal(sim_load_new(&source, catalog, &event, &load), -EINVAL);
    assert_null(load);
    assert_string_equal(event, rate.event);
}

static void test_what_is_no_event_or_no_rate_is_refused_by_name(void **state) {
    check_refused(*state, (struct scenario_rate){"NOT_THERE", 1});
    check_refused(*state, (struct scenario_rate){"A", -1});
    check_refused(*state, (struct scenario_rate){"A", NAN});
    check_refused(*state, (struct scenario_rate){"A", INFINITY});
    check_refused(*state, (struct scenario_rate){((const struct catalog *)*state)->events[0].name, 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_steady_load_counts_rate_times_time_exactly),
        cmocka_unit_test(test_a_ramp_counts_its_triangle),
        cmocka_unit_test(test_the_last_keyframe_leads_back_to_the_first_at_the_periods_end),
        cmocka_unit_test(test_keyframes_at_one_place_or_at_the_periods_end_are_a_jump),
        cmocka_unit_test(test_an_event_that_a_keyframe_does_not_name_happens_0_times_there),
        cmocka_unit_test(test_idleness_makes_no_events_but_time_goes_on),
        cmocka_unit_test(test_a_load_that_is_ahead_or_behind_begins_within_its_period),
        cmocka_unit_test(test_small_steps_add_up_to_one_large_one),
        cmocka_unit_test(test_a_window_is_exact_after_a_year),
        cmocka_unit_test(test_what_is_no_event_or_no_rate_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, make_catalog, free_catalog);
}
