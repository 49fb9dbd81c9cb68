// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/derive_rounds.h"

#include "core/recording/recording.h"

// Readings of rounds that belong to cores: they end at different times, and cores that slept were held on event groups.
// Made by hand, and totals worked out by hand. Two event groups of a slot of a second each, on two CPUs.

enum { AB, CD, GROUPS };

static void start(struct host *host) {
    struct catalog_builder *builder = plain_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    group_of(builder, "All", "ab cd");
    host_init(host, builder);
    host_start(host, 2);
    assert_int_equal(host->layout->plan->n_units, GROUPS);
    assert_true(host->layout->plan->round_ns == 2 * SECOND_NS);
}

// A window of a second of the event group with A and B, or with C and D.
static struct window *count(struct host *host, unsigned cpu, unsigned group, uint64_t first, uint64_t second) {
    uint64_t counts[D + 1] = {0};
    counts[group == AB ? A : C] = first;
    counts[group == AB ? B : D] = second;
    return window_of(host, cpu, group_with(host, group == AB ? A : C), counts);
}

static double total(const struct host *host, size_t scope, unsigned event) {
    for (size_t e = 0; e < host->layout->n_events; e++)
        if (host->layout->events[e] == event)
            return host->snapshot->values[snapshot_event(host->layout, scope, e)];
    fail();
    return 0;
}

static double covered(const struct host *host, size_t scope) {
    return host->snapshot->values[snapshot_covered(host->layout, scope)];
}

static double uncovered(const struct host *host, size_t scope, enum uncovered reason) {
    return host->snapshot->values[snapshot_uncovered(host->layout, scope, reason)];
}

static void test_rounds_of_different_lengths_are_extrapolated_each_to_its_own(void **state) {
    (void)state;
    struct host host;
    start(&host);
    (void)count(&host, 0, AB, 100, 10);
    (void)count(&host, 0, CD, 50, 5);
    end_core(&host, 0, 1, 3);
    end_readings(&host, 3, false);
    near("A of CPU 0", total(&host, cpu_scope(&host, 0), A), 200); // 1 of 2 s
    near("A of CPU 1", total(&host, cpu_scope(&host, 1), A), 0);   // its round goes on
    near("covered", covered(&host, 0), 2);
    (void)count(&host, 1, AB, 30, 6);
    (void)count(&host, 1, CD, 70, 7);
    end_core(&host, 1, 1, 6);
    end_readings(&host, 6, true);
    near("A of CPU 1", total(&host, cpu_scope(&host, 1), A), 150); // 1 of 5 s
    near("A of the host", total(&host, 0, A), 350);
    near("C of the host", total(&host, 0, C), 100 + 350);
    near("covered", covered(&host, 0), 7);
    expect(&host, cpu_scope(&host, 0), "ab", 10);                      // of its last round, which has ended before
    expect(&host, 0, "ab", (5 * 100 + 5 * 30) / (5.0 * 10 + 5.0 * 6)); // each for 5 s
    (void)count(&host, 0, AB, 1, 1);
    (void)count(&host, 0, CD, 1, 1);
    end_core(&host, 0, 3, 8);
    end_readings(&host, 8, false);
    near("A of the host", total(&host, 0, A), 355);
    near("covered", covered(&host, 0), 12);
    host_deinit(&host);
}

static void test_counts_of_a_held_core_are_divided_by_the_probability_of_their_slots(void **state) {
    (void)state;
    struct host host;
    start(&host);
    (void)count(&host, 0, AB, 100, 10);
    end_held(&host, 0, 1, 3, 0.2);
    (void)count(&host, 1, AB, 10, 10);
    (void)count(&host, 1, CD, 40, 8);
    end_core(&host, 1, 1, 3);
    end_readings(&host, 3, true);
    near("A of CPU 0", total(&host, cpu_scope(&host, 0), A), 100 / (0.5 * 0.8));
    near("C of CPU 0", total(&host, cpu_scope(&host, 0), C), 0);
    near("covered of CPU 0", covered(&host, cpu_scope(&host, 0)), 2); // it is known why nothing counted C
    near("A of the host", total(&host, 0, A), 250 + 20);
    expect(&host, cpu_scope(&host, 0), "ab", 10);
    size_t m = metric_place(&host, "cd");
    assert_true(isnan(host.snapshot->values[snapshot_metric(host.layout, cpu_scope(&host, 0), m)]));
    expect(&host, 0, "ab", 270.0 / (25 + 20));
    expect(&host, 0, "cd", 5); // CPU 0 adds nothing
    host_deinit(&host);
}

// The time that the window lasted says nothing: it began in an earlier round.
static void test_how_long_a_held_cores_windows_are_changes_nothing(void **state) {
    (void)state;
    struct host host;
    start(&host);
    struct window *window = count(&host, 0, CD, 30, 3);
    window->enabled_ns = window->running_ns = 9 * SECOND_NS;
    end_held(&host, 0, 10, 12, 0);
    end_core(&host, 1, 10, 12);
    (void)count(&host, 1, AB, 1, 1);
    (void)count(&host, 1, CD, 1, 1);
    end_readings(&host, 12, true);
    near("C of CPU 0", total(&host, cpu_scope(&host, 0), C), 60);
    near("covered", covered(&host, 0), 4);
    host_deinit(&host);
}

static void test_a_round_of_the_cpus_after_a_held_one_is_extrapolated_by_time(void **state) {
    (void)state;
    struct host host;
    start(&host);
    (void)count(&host, 0, AB, 100, 10);
    end_held(&host, 0, 1, 3, 0);
    end_readings(&host, 3, false);
    (void)count(&host, 0, AB, 8, 2);
    (void)count(&host, 0, CD, 6, 2);
    end_core(&host, 0, 3, 7);
    end_readings(&host, 7, true);
    near("A", total(&host, 0, A), 200 + 32);
    near("C", total(&host, 0, C), 24);
    host_deinit(&host);
}

// A held core's event group that failed is uncovered until it counts again, also in rounds without a window of it.
static void test_a_failed_event_group_of_a_held_core_stays_uncovered_until_it_counts(void **state) {
    (void)state;
    struct host host;
    start(&host);
    fail_window(count(&host, 0, CD, 0, 0), WINDOW_FAILED, -EMFILE);
    end_held(&host, 0, 1, 3, 0);
    end_readings(&host, 3, true);
    for (unsigned at = 3; at < 9; at += 2) {
        (void)count(&host, 0, AB, 10, 1);
        end_held(&host, 0, at, at + 2, 0);
        end_readings(&host, at + 2, true);
    }
    size_t cpu = cpu_scope(&host, 0);
    near("uncovered", uncovered(&host, cpu, UNCOVERED_FAILED), 8 / 2.0); // given up after 6 s: one metric of two
    near("covered", covered(&host, cpu), 8 / 2.0);
    near("C", total(&host, cpu, C), 0);
    (void)count(&host, 0, CD, 10, 1);
    end_held(&host, 0, 9, 11, 0);
    end_readings(&host, 11, true);
    end_held(&host, 0, 11, 13, 0); // without any window
    end_readings(&host, 13, true);
    near("C", total(&host, cpu, C), 20);
    near("uncovered", uncovered(&host, cpu, UNCOVERED_FAILED), 4);
    near("covered", covered(&host, cpu), 8);
    host_deinit(&host);
}

// The reason is that of the last window, also in rounds without one.
static void test_a_starved_event_group_of_a_held_core_stays_starved_until_it_counts(void **state) {
    (void)state;
    struct host host;
    start(&host);
    fail_window(count(&host, 0, CD, 0, 0), WINDOW_STARVED, 0);
    end_held(&host, 0, 1, 3, 0);
    end_readings(&host, 3, true);
    for (unsigned at = 3; at < 11; at += 2) {
        (void)count(&host, 0, AB, 10, 1);
        end_held(&host, 0, at, at + 2, 0);
        end_readings(&host, at + 2, true);
    }
    size_t cpu = cpu_scope(&host, 0);
    near("starved", uncovered(&host, cpu, UNCOVERED_STARVED), 10 / 2.0); // one metric of two
    near("failed", uncovered(&host, cpu, UNCOVERED_FAILED), 0);
    host_deinit(&host);
}

static void test_a_pause_begins_where_each_cpus_round_ended(void **state) {
    (void)state;
    struct host host;
    start(&host);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        (void)count(&host, cpu, AB, 10, 1);
        (void)count(&host, cpu, CD, 10, 1);
        end_core(&host, cpu, 1, cpu == 0 ? 3 : 6);
        end_readings(&host, cpu == 0 ? 3 : 6, cpu == 1);
    }
    derive_pause(host.derive, 10 * SECOND_NS, UNCOVERED_YIELDED);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        (void)count(&host, cpu, AB, 10, 1);
        (void)count(&host, cpu, CD, 10, 1);
        end_core(&host, cpu, 10, 12 + cpu);
    }
    end_readings(&host, 13, true);
    near("of CPU 0", uncovered(&host, cpu_scope(&host, 0), UNCOVERED_YIELDED), 7);
    near("of CPU 1", uncovered(&host, cpu_scope(&host, 1), UNCOVERED_YIELDED), 4);
    near("of the host", uncovered(&host, 0, UNCOVERED_YIELDED), 11);
    near("covered of CPU 0", covered(&host, cpu_scope(&host, 0)), 2 + 2);
    near("covered of CPU 1", covered(&host, cpu_scope(&host, 1)), 5 + 3);
    near("A of CPU 1", total(&host, cpu_scope(&host, 1), A), 50 + 30);
    host_deinit(&host);
}

static void test_another_plan_goes_on_where_each_cpus_round_ended(void **state) {
    (void)state;
    struct host host;
    start(&host);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        (void)count(&host, cpu, AB, 10, 1);
        (void)count(&host, cpu, CD, 10, 1);
        end_core(&host, cpu, 1, cpu == 0 ? 3 : 6);
        end_readings(&host, cpu == 0 ? 3 : 6, cpu == 1);
    }
    struct derive *next = derive_new(host.layout);
    assert_non_null(next);
    assert_int_equal(derive_continue(next, host.derive), 0);
    derive_free(host.derive);
    host.derive = next;
    for (unsigned cpu = 0; cpu < CPUS; cpu++) { // the first rounds begin at 7 s
        (void)count(&host, cpu, AB, 10, 1);
        (void)count(&host, cpu, CD, 10, 1);
        end_core(&host, cpu, 7, 8);
    }
    end_readings(&host, 8, true);
    near("A of CPU 0", total(&host, cpu_scope(&host, 0), A), 20 + 50); // from 3 to 8 s
    near("A of CPU 1", total(&host, cpu_scope(&host, 1), A), 50 + 20);
    near("covered", covered(&host, 0), 2 * 7);
    host_deinit(&host);
}

static void test_a_core_that_comes_too_late_leaves_a_gap_of_its_own(void **state) {
    (void)state;
    struct host host;
    start(&host);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        (void)count(&host, cpu, AB, 10, 1);
        (void)count(&host, cpu, CD, 10, 1);
        end_core(&host, cpu, 1, cpu == 0 ? 8 : 3); // 7 s are more than three rounds
    }
    end_readings(&host, 8, true);
    near("gap of CPU 0", uncovered(&host, cpu_scope(&host, 0), UNCOVERED_GAP), 5);
    near("gap of the host", uncovered(&host, 0, UNCOVERED_GAP), 5);
    near("covered of CPU 0", covered(&host, cpu_scope(&host, 0)), 2);
    host_deinit(&host);
}

// As a recording that is wrong may have it: CPU 0's second round ends before its first did.
static void test_a_round_that_ends_before_the_last_one_stands_for_no_time(void **state) {
    (void)state;
    for (int held = 0; held < 2; held++) {
        struct host host;
        start(&host);
        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
            (void)count(&host, cpu, AB, 10, 1);
            (void)count(&host, cpu, CD, 10, 1);
            end_core(&host, cpu, 1, 3);
        }
        end_readings(&host, 3, true);
        double before = covered(&host, cpu_scope(&host, 0));
        (void)count(&host, 0, AB, 10, 1);
        end_core(&host, 0, 1, 2);
        host.readings->cores[0].held = held != 0;
        end_readings(&host, 4, true);
        near("covered of CPU 0", covered(&host, cpu_scope(&host, 0)), before);
        near("gap of CPU 0", uncovered(&host, cpu_scope(&host, 0), UNCOVERED_GAP), 0);
        const struct snapshot_layout *layout = host.layout;
        for (size_t m = 0; m < layout->n_metrics; m++)
            assert_true(isfinite(host.snapshot->values[snapshot_denominator(layout, 0, m)]));
        host_deinit(&host);
    }
}

// ---- recorded ----

static int replay(struct host *host, struct readings **out) {
    struct recording_buffer bytes = {0};
    struct recording_record record;
    size_t at = 0;
    double seconds;
    assert_int_equal(recording_put_round(&bytes, host->readings, host->layout->plan, 5), 0);
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    assert_int_equal(record.kind, RECORDING_CORES);
    int r = recording_get_round(&record, host->layout->plan, host->layout->topology, false, &seconds, out);
    recording_buffer_deinit(&bytes);
    return r;
}

// Readings of both cores, the second of which was held.
static void fill(struct host *host) {
    readings_begin(host->readings, 7, SECOND_NS);
    (void)count(host, 0, AB, 10, 1);
    (void)count(host, 1, CD, 20, 2);
    end_core(host, 0, 1, 3);
    end_held(host, 1, 2, 4, 0.125);
    host->readings->end_ns = 5 * SECOND_NS;
    host->readings->round_over = false;
}

static void test_rounds_of_cores_are_recorded_as_they_are(void **state) {
    (void)state;
    struct host host;
    struct readings *again;
    start(&host);
    fill(&host);
    assert_int_equal(replay(&host, &again), 0);
    assert_true(again->by_core && !again->round_over);
    assert_true(again->round == 7 && again->start_ns == SECOND_NS && again->end_ns == 5 * SECOND_NS);
    assert_int_equal(again->n_cores, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct core_round *is = &again->cores[i], *was = &host.readings->cores[i];
        assert_int_equal(is->core, was->core);
        assert_true(is->start_ns == was->start_ns && is->end_ns == was->end_ns);
        assert_true(is->held == was->held && is->idle_share == was->idle_share);
    }
    assert_int_equal(again->n_windows, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct window *is = &again->windows[i], *was = &host.readings->windows[i];
        assert_true(is->cpu == was->cpu && is->group == was->group && is->result == was->result);
        assert_true(is->enabled_ns == was->enabled_ns && is->running_ns == was->running_ns);
        assert_memory_equal(is->counts, was->counts, 2 * sizeof *is->counts);
    }
    readings_free(again);
    host.readings->round_over = true; // and without any core, as where all were late
    host.readings->n_cores = host.readings->n_windows = 0;
    assert_int_equal(replay(&host, &again), 0);
    assert_true(again->by_core && again->round_over && again->n_cores == 0);
    readings_free(again);
    host_deinit(&host);
}

static void test_malformed_rounds_of_cores_are_refused(void **state) {
    (void)state;
    static const double shares[] = {1, 2, -0.001, NAN, INFINITY, -INFINITY};
    struct host host;
    struct readings *again;
    start(&host);
    for (size_t i = 0; i < N_OF(shares); i++) {
        fill(&host);
        host.readings->cores[1].idle_share = shares[i];
        assert_int_equal(replay(&host, &again), -EBADMSG);
    }
    fill(&host); // the same core twice
    host.readings->cores[1].core = 0;
    assert_int_equal(replay(&host, &again), -EBADMSG);
    fill(&host); // not ascending
    host.readings->cores[0].core = 1;
    host.readings->cores[1].core = 0;
    assert_int_equal(replay(&host, &again), -EBADMSG);
    fill(&host); // no such core
    host.readings->cores[1].core = 2;
    assert_int_equal(replay(&host, &again), -EBADMSG);
    fill(&host); // a window of a core whose round has not ended
    host.readings->n_cores = 1;
    assert_int_equal(replay(&host, &again), -EBADMSG);
    fill(&host); // that ended later than the readings
    host.readings->cores[1].end_ns = 6 * SECOND_NS;
    assert_int_equal(replay(&host, &again), -EBADMSG);
    fill(&host); // that began after its end
    host.readings->cores[1].start_ns = 5 * SECOND_NS;
    assert_int_equal(replay(&host, &again), -EBADMSG);
    host_deinit(&host);
}

// Reads a record without its last bytes; the one `back` before the end that is left becomes `byte` if that is not 0.
static int get_changed(struct host *host, size_t cut, size_t back, uint8_t byte, struct readings **out) {
    struct recording_buffer bytes = {0};
    struct recording_record record;
    size_t at = 0;
    double seconds;
    assert_int_equal(recording_put_round(&bytes, host->readings, host->layout->plan, 5), 0);
    assert_int_equal(recording_next(bytes.bytes, bytes.n, &at, &record), 1);
    uint8_t *copy = malloc(record.n);
    assert_non_null(copy);
    memcpy(copy, record.bytes, record.n);
    record.bytes = copy;
    record.n -= cut;
    if (byte > 0)
        copy[record.n - 1 - back] = byte;
    int r = recording_get_round(&record, host->layout->plan, host->layout->topology, false, &seconds, out);
    free(copy);
    recording_buffer_deinit(&bytes);
    return r;
}

static int get_cut(struct host *host, size_t cut, uint8_t last, struct readings **out) {
    return get_changed(host, cut, 0, last, out);
}

static void test_a_recording_has_the_guests_of_each_cpu_where_they_are_known(void **state) {
    (void)state;
    static const uint64_t taken[][CPUS] = {{90, 7}, {90, 0}, {0, 7}, {0, 0}};
    struct host host;
    struct readings *again;
    start(&host);
    fill(&host);
    assert_int_equal(replay(&host, &again), 0);
    assert_false(again->guests_known); // as in records of earlier versions
    readings_free(again);
    uint64_t *guest_ns = readings_guests(host.readings, CPUS);
    assert_non_null(guest_ns);
    host.readings->guests_known = true;
    for (size_t i = 0; i < 4; i++) {
        memcpy(guest_ns, taken[i], sizeof taken[i]);
        assert_int_equal(replay(&host, &again), 0);
        assert_true(again->guests_known);
        assert_memory_equal(again->guest_ns, taken[i], sizeof taken[i]);
        readings_free(again);
    }
    host_deinit(&host);
}

static void test_a_recording_has_for_how_long_each_cpu_was_busy_with_guests_or_without(void **state) {
    (void)state;
    struct host host;
    struct readings *again;
    start(&host);
    fill(&host);
    uint64_t *busy_ns = readings_busy(host.readings, CPUS);
    assert_non_null(busy_ns);
    busy_ns[0] = 9990000000;
    busy_ns[1] = 0;
    host.readings->busy_known = true;
    for (int guests = 0; guests < 2; guests++) {
        host.readings->guests_known = guests > 0;
        readings_guests(host.readings, CPUS)[1] = 3;
        assert_int_equal(replay(&host, &again), 0);
        assert_true(again->busy_known && again->guests_known == (guests > 0));
        assert_memory_equal(again->busy_ns, busy_ns, CPUS * sizeof *busy_ns);
        readings_free(again);
        assert_int_equal(get_cut(&host, 1, 0, &again), -EBADMSG);
        assert_int_equal(get_cut(&host, 0, 0x80, &again), -EBADMSG);
    }
    // no guests, the mark of three bytes, a byte for each CPU: the mark and these are no guests of a third CPU
    busy_ns[0] = busy_ns[1] = 5 * READINGS_BUSY_STEP_NS;
    readings_guests(host.readings, CPUS)[1] = 0;
    assert_int_equal(get_changed(&host, 0, 3 + CPUS, CPUS + 1, &again), -EBADMSG);
    host.readings->busy_known = false;
    assert_int_equal(replay(&host, &again), 0);
    assert_false(again->busy_known);
    readings_free(again);
    host_deinit(&host);
}

static void test_how_long_cpus_were_busy_adds_up_and_is_not_extrapolated(void **state) {
    (void)state;
    struct host host;
    start(&host);
    fill(&host);
    end_readings(&host, 3, true);
    assert_true(isnan(host.snapshot->values[snapshot_busy(host.layout, 0)]));
    for (unsigned i = 1; i <= 3; i++) {
        uint64_t *busy_ns = readings_busy(host.readings, CPUS);
        assert_non_null(busy_ns);
        host.readings->busy_known = i != 2;
        busy_ns[0] = i * SECOND_NS / 4;
        busy_ns[1] = 0;
        end_readings(&host, 3 + i, false);
    }
    near("CPU 0", host.snapshot->values[snapshot_busy(host.layout, cpu_scope(&host, 0))], 1);
    near("CPU 1", host.snapshot->values[snapshot_busy(host.layout, cpu_scope(&host, 1))], 0);
    near("the host", host.snapshot->values[snapshot_busy(host.layout, 0)], 1);
    host_deinit(&host);
}

static void test_wrong_records_of_guests_are_refused(void **state) {
    (void)state;
    struct host host;
    struct readings *again;
    start(&host);
    fill(&host);
    uint64_t *guest_ns = readings_guests(host.readings, CPUS);
    host.readings->guests_known = true;
    guest_ns[0] = guest_ns[1] = 0;                            // the record ends with their number, 0
    assert_int_equal(get_cut(&host, 0, 1, &again), -EBADMSG); // and none follows
    assert_int_equal(get_cut(&host, 0, CPUS + 1, &again), -EBADMSG);
    assert_int_equal(get_cut(&host, 1, 0, &again), 0); // of an earlier version
    readings_free(again);
    guest_ns[1] = 5;
    assert_int_equal(get_cut(&host, 1, 0, &again), -EBADMSG);
    assert_int_equal(get_cut(&host, 0, 0x80, &again), -EBADMSG); // a number that does not end
    host_deinit(&host);
}

static void test_what_guests_took_adds_up_and_is_not_extrapolated(void **state) {
    (void)state;
    struct host host;
    start(&host);
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        (void)count(&host, cpu, AB, 10, 1);
        (void)count(&host, cpu, CD, 10, 1);
        end_core(&host, cpu, 1, 3);
    }
    end_readings(&host, 3, true);
    assert_true(isnan(host.snapshot->values[snapshot_guest(host.layout, 0)]));
    for (unsigned i = 1; i <= 3; i++) {
        uint64_t *guest_ns = readings_guests(host.readings, CPUS);
        assert_non_null(guest_ns);
        host.readings->guests_known = i != 2; // they are made up for
        guest_ns[0] = i * SECOND_NS / 4;
        guest_ns[1] = 0;
        end_readings(&host, 3 + i, false);
    }
    near("guests of CPU 0", host.snapshot->values[snapshot_guest(host.layout, cpu_scope(&host, 0))], 1);
    near("guests of CPU 1", host.snapshot->values[snapshot_guest(host.layout, cpu_scope(&host, 1))], 0);
    near("guests of the host", host.snapshot->values[snapshot_guest(host.layout, 0)], 1);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_of_different_lengths_are_extrapolated_each_to_its_own),
        cmocka_unit_test(test_counts_of_a_held_core_are_divided_by_the_probability_of_their_slots),
        cmocka_unit_test(test_how_long_a_held_cores_windows_are_changes_nothing),
        cmocka_unit_test(test_a_round_of_the_cpus_after_a_held_one_is_extrapolated_by_time),
        cmocka_unit_test(test_a_failed_event_group_of_a_held_core_stays_uncovered_until_it_counts),
        cmocka_unit_test(test_a_starved_event_group_of_a_held_core_stays_starved_until_it_counts),
        cmocka_unit_test(test_a_pause_begins_where_each_cpus_round_ended),
        cmocka_unit_test(test_another_plan_goes_on_where_each_cpus_round_ended),
        cmocka_unit_test(test_a_core_that_comes_too_late_leaves_a_gap_of_its_own),
        cmocka_unit_test(test_a_round_that_ends_before_the_last_one_stands_for_no_time),
        cmocka_unit_test(test_rounds_of_cores_are_recorded_as_they_are),
        cmocka_unit_test(test_malformed_rounds_of_cores_are_refused),
        cmocka_unit_test(test_a_recording_has_the_guests_of_each_cpu_where_they_are_known),
        cmocka_unit_test(test_a_recording_has_for_how_long_each_cpu_was_busy_with_guests_or_without),
        cmocka_unit_test(test_how_long_cpus_were_busy_adds_up_and_is_not_extrapolated),
        cmocka_unit_test(test_wrong_records_of_guests_are_refused),
        cmocka_unit_test(test_what_guests_took_adds_up_and_is_not_extrapolated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
