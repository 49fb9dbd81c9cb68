// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/derive_rounds.h"

// Snapshots within a round after a pause, a standstill, or on cores that are held: nothing old is shown, and nothing is
// counted twice.

enum { S = D + 1 }; // counts all the time

static void start(struct host *host) {
    struct catalog_builder *builder = plain_builder();
    const struct catalog_event_text standing = {.name = "S", .terms = "event=0x91"};
    struct fault fault;
    assert_true(catalog_builder_add_event_text(builder, &standing, &fault) >= 0);
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "c_a_second", "C / cpu_seconds", NULL);
    metric_of(builder, "s_a_second", "S / cpu_seconds", NULL);
    group_of(builder, "All", "ab c_a_second s_a_second");
    host_init(host, builder);
    host_start(host, 2);
}

static void count(struct host *host, unsigned event, uint64_t n, double seconds) {
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        uint64_t counts[S + 1] = {0};
        counts[event] = n;
        if (event == A)
            counts[B] = n / 10;
        struct window *window = window_of(host, cpu, group_with(host, event), counts);
        window->enabled_ns = window->running_ns = (uint64_t)(seconds * 1e9);
    }
}

// All cores end a round of 2 s, the first of this host.
static void end_cores(struct host *host) {
    for (unsigned core = 0; core < CPUS; core++)
        end_core(host, core, 1, 3);
}

static void pause_until(struct host *host, unsigned at) {
    derive_pause(host->derive, at * SECOND_NS, UNCOVERED_YIELDED);
    readings_begin(host->readings, host->readings->round, at * SECOND_NS);
}

static size_t place_of(const struct host *host, const char *name) {
    return (size_t)host->layout->plan->place[catalog_find_metric(host->catalog, name)];
}

static double gauge(const struct host *host, const char *name) {
    return host->snapshot->values[snapshot_metric(host->layout, 0, place_of(host, name))];
}

static double numerator(const struct host *host, const char *name) {
    return host->snapshot->values[snapshot_numerator(host->layout, 0, place_of(host, name))];
}

static double denominator(const struct host *host, const char *name) {
    return host->snapshot->values[snapshot_denominator(host->layout, 0, place_of(host, name))];
}

static void measure_first_round(struct host *host) {
    start(host);
    count(host, A, 100, 1);
    count(host, C, 100, 1);
    count(host, S, 20, 2);
    end_cores(host);
    end_readings(host, 3, true);
    assert_true(gauge(host, "ab") == 10);
}

// Of tasks, the time of a round is that of all threads together, however long that is beside the plan's round.
static void test_a_round_without_gaps_counts_whole_however_long_it_is(void **state) {
    (void)state;
    struct host host;
    start(&host);
    for (unsigned round = 0; round < 2; round++) { // 400 s each, of a plan with rounds of a second or two
        count(&host, A, 4000, 400);
        count(&host, C, 4000, 400);
        count(&host, S, 4000, 400);
        host.readings->no_gaps = true;
        host.readings->start_ns = (1 + 400 * round) * SECOND_NS;
        host.readings->end_ns = (401 + 400 * round) * SECOND_NS;
        snapshot_unref(host.snapshot);
        host.snapshot = snapshot_new(host.layout);
        derive_round(host.derive, host.readings, host.snapshot);
        readings_begin(host.readings, round + 1, host.readings->end_ns);
    }
    assert_true(gauge(&host, "ab") == 10);
    assert_true(numerator(&host, "ab") == 2 * CPUS * 4000);
    assert_true(denominator(&host, "c_a_second") == 2 * CPUS * 400);
    assert_true(host.snapshot->values[snapshot_uncovered(host.layout, 0, UNCOVERED_GAP)] == 0);
    host_deinit(&host);
}

static void test_after_a_pause_no_gauge_shows_what_was_counted_before(void **state) {
    (void)state;
    struct host host;
    measure_first_round(&host);
    pause_until(&host, 603);
    count(&host, S, 10, 1);
    end_readings(&host, 604, false);
    assert_true(isnan(gauge(&host, "ab")));
    assert_int_not_equal(host.snapshot->absent[snapshot_state(host.layout, 0, place_of(&host, "ab"))], ABSENT_NOT);
    host_deinit(&host);
}

static void test_a_standstill_within_a_round_ends_the_gauges_of_the_round_before(void **state) {
    (void)state;
    struct host host;
    measure_first_round(&host);
    count(&host, S, 6000, 600);
    end_readings(&host, 603, false);
    assert_true(isnan(gauge(&host, "ab")));
    host_deinit(&host);
}

static void test_a_pause_in_the_first_round_is_in_no_total(void **state) {
    (void)state;
    struct host host;
    start(&host);
    count(&host, S, 10, 1);
    end_readings(&host, 2, false);
    double before = numerator(&host, "s_a_second");
    pause_until(&host, 602);
    count(&host, S, 10, 1);
    end_readings(&host, 603, false);
    assert_true(numerator(&host, "s_a_second") == 2 * before);
    host_deinit(&host);
}

static void test_time_on_a_held_core_is_exact_in_totals_too(void **state) {
    (void)state;
    struct host host;
    start(&host);
    count(&host, C, 100, 1);
    count(&host, A, 100, 1);
    for (unsigned core = 0; core < CPUS; core++)
        end_held(&host, core, 1, 3, 0.2);
    end_readings(&host, 3, true);
    assert_true(fabs(denominator(&host, "c_a_second") - 2 * CPUS) < 1e-9);
    assert_true(fabs(gauge(&host, "c_a_second") - numerator(&host, "c_a_second") / (2 * CPUS)) < 1e-9);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round_without_gaps_counts_whole_however_long_it_is),
        cmocka_unit_test(test_after_a_pause_no_gauge_shows_what_was_counted_before),
        cmocka_unit_test(test_a_standstill_within_a_round_ends_the_gauges_of_the_round_before),
        cmocka_unit_test(test_a_pause_in_the_first_round_is_in_no_total),
        cmocka_unit_test(test_time_on_a_held_core_is_exact_in_totals_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
