// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/base/student.h"
#include "daemon/measure/collected.h"
#include "tests/unit/exporter_host.h"

// What a measurement by hand makes of the snapshots that it takes in (daemon/measure/collected.h). `ipc` has totals,
// `odd` has none and is the mean of its gauges.

#define SECOND_NS UINT64_C(1000000000)

struct measured {
    struct exporter_host host;
    struct view *view;
    struct collected *collected;
    struct snapshot *next; // to be taken in
    uint64_t now_ns;
};

static void begin_snapshot(struct measured *m) {
    snapshot_unref(m->next);
    m->next = host_snapshot(&m->host);
    m->next->start_ns = m->now_ns;
}

static void begin_as(struct measured *m, bool each_is_round) {
    *m = (struct measured){.now_ns = 100 * SECOND_NS};
    host_init(&m->host);
    m->view = view_new(&m->host.view);
    m->collected = collected_new(each_is_round);
    assert_true(m->view && m->collected);
    begin_snapshot(m);
}

static void begin(struct measured *m) { begin_as(m, true); }

static void end(struct measured *m) {
    collected_free(m->collected);
    snapshot_unref(m->next);
    view_unref(m->view);
    host_deinit(&m->host);
}

// The host's totals of instructions per cycle.
static void set_totals(struct measured *m, double instructions, double cycles) {
    size_t metric = host_metric(&m->host, "ipc");
    m->next->values[snapshot_numerator(m->host.layout, 0, metric)] = instructions;
    m->next->values[snapshot_denominator(m->host.layout, 0, metric)] = cycles;
}

static void set_gauge(struct measured *m, const char *name, double value, double half) {
    size_t metric = host_metric(&m->host, name);
    m->next->values[snapshot_metric(m->host.layout, 0, metric)] = value;
    m->next->values[snapshot_low(m->host.layout, 0, metric)] = value - half;
    m->next->values[snapshot_high(m->host.layout, 0, metric)] = value + half;
}

// Takes the snapshot in, which ends so much later than it began.
static void take(struct measured *m, uint64_t ns) {
    m->next->end_ns = m->now_ns += ns;
    assert_int_equal(collected_take(m->collected, m->view, m->next), 0);
    begin_snapshot(m);
}

static void expect(const struct measured *m, const char *name, double value, double low, double high) {
    struct view *view;
    struct snapshot *result = collected_result(m->collected, &view);
    size_t metric = host_metric(&m->host, name);
    assert_non_null(result);
    assert_true(fabs(result->values[snapshot_metric(m->host.layout, 0, metric)] - value) < 1e-6);
    assert_true(fabs(result->values[snapshot_low(m->host.layout, 0, metric)] - low) < 1e-6);
    assert_true(fabs(result->values[snapshot_high(m->host.layout, 0, metric)] - high) < 1e-6);
    snapshot_unref(result);
}

static void test_a_value_is_what_its_totals_grew_by_not_the_mean_of_its_gauges(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    set_totals(&m, 1000, 1000);
    set_gauge(&m, "ipc", 1, 0.3);
    take(&m, SECOND_NS);
    collected_begin(m.collected);
    set_totals(&m, 1100, 1100); // 100 of each
    set_gauge(&m, "ipc", 1, 0.3);
    take(&m, SECOND_NS);
    set_totals(&m, 1100 + 3000, 1100 + 1000); // a busy second at 3
    set_gauge(&m, "ipc", 3, 0.4);
    take(&m, SECOND_NS);
    double value = 3100.0 / 1100, half = sqrt((0.09 + 0.16) / 2 / 2); // of two rounds
    expect(&m, "ipc", value, value - half, value + half);
    end(&m);
}

static void test_without_totals_it_is_the_mean_of_the_gauges_that_there_are(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    set_gauge(&m, "odd", 1, 0.5);
    take(&m, SECOND_NS);
    set_gauge(&m, "odd", NAN, NAN);
    take(&m, SECOND_NS);
    set_gauge(&m, "odd", 2, 0.5);
    take(&m, SECOND_NS);
    expect(&m, "odd", 1.5, 1.5 - 0.5 / sqrt(2), 1.5 + 0.5 / sqrt(2));
    end(&m);
}

// As a share or a rate cannot be below 0, no interval says that it is.
static void test_no_interval_goes_below_0_for_what_is_not_negative(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    set_gauge(&m, "odd", 0.25, 1);
    take(&m, SECOND_NS);
    expect(&m, "odd", 0.25, 0, 1.25);
    end(&m);
    begin(&m);
    set_gauge(&m, "odd", -0.25, 1);
    take(&m, SECOND_NS);
    expect(&m, "odd", -0.25, -1.25, 0.75);
    end(&m);
}

// Snapshots within a round repeat parts of one another: ten of a tenth of a round are one, and three of them are not
// less certain than it.
static void test_snapshots_within_a_round_do_not_make_it_more_or_less_certain(void **state) {
    static const struct { int snapshots, rounds; } cases[] = {{3, 1}, {10, 1}, {40, 4}};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct measured m;
        begin_as(&m, false);
        for (int n = 0; n < cases[i].snapshots; n++) {
            set_gauge(&m, "odd", 2, 0.5);
            take(&m, m.host.plan->round_ns / 10);
        }
        double half = 0.5 / sqrt(cases[i].rounds);
        expect(&m, "odd", 2, 2 - half, 2 + half);
        end(&m);
    }
}

static double result_of_event(const struct measured *m, size_t event) {
    struct view *view;
    struct snapshot *result = collected_result(m->collected, &view);
    assert_non_null(result);
    double count = result->values[snapshot_event(result->layout, 0, event)];
    snapshot_unref(result);
    return count;
}

// Another plan has other events, or the same at other places: what they had counted before is not known.
static void test_counts_are_those_since_the_beginning_and_unknown_under_another_plan(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    size_t at = snapshot_event(m.host.layout, 0, 0);
    m.next->values[at] = 1000;
    take(&m, SECOND_NS);
    assert_true(result_of_event(&m, 0) == 1000);
    collected_begin(m.collected);
    m.next->values[at] = 1700;
    take(&m, SECOND_NS);
    assert_true(result_of_event(&m, 0) == 700);
    collected_begin(m.collected);
    struct snapshot_layout *other = host_layout(m.host.catalog, 3);
    struct snapshot *snapshot = snapshot_new(other);
    assert_non_null(snapshot);
    snapshot->values[snapshot_event(other, 0, 0)] = 2500;
    snapshot->start_ns = m.now_ns;
    snapshot->end_ns = m.now_ns + SECOND_NS;
    assert_int_equal(collected_take(m.collected, m.view, snapshot), 0);
    assert_true(isnan(result_of_event(&m, 0)));
    snapshot_unref(snapshot);
    snapshot_layout_unref(other);
    end(&m);
}

// What averages out, what stays, and the least of a round.
static void set_many(struct measured *m, const char *name, struct estimate_rounds_of many) {
    if (!m->next->many)
        snapshot_tell_many(m->next);
    assert_non_null(m->next->many);
    m->next->many[snapshot_state(m->host.layout, 0, host_metric(&m->host, name))] = many;
}

static void test_many_rounds_are_as_certain_as_the_newest_snapshot_says_of_them(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    for (int round = 0; round < 4; round++) {
        set_gauge(&m, "odd", 10, round == 0 ? NAN : 5);
        set_many(&m, "odd", (struct estimate_rounds_of){round == 0 ? NAN : 0.04 * round, 0, INFINITY, 0, {0, 0}});
        take(&m, SECOND_NS);
    }
    double half = 1.959964 * sqrt(0.12 / 4); // the newest variance; all four rounds count
    expect(&m, "odd", 10, 10 - half, 10 + half);
    set_gauge(&m, "odd", 10, 5);
    set_many(&m, "odd", (struct estimate_rounds_of){0.05, 0.1, 4, 0, {0, 0}});
    take(&m, SECOND_NS);
    // a hundredth stays however many rounds there are, and is known: 4 degrees of freedom become 16
    half = student_95(4 * 4) * sqrt(0.05 / 5 + 0.01);
    expect(&m, "odd", 10, 10 - half, 10 + half);
    set_gauge(&m, "odd", 10, 5);
    set_many(&m, "odd", (struct estimate_rounds_of){0, 0, 4, 0.6, {0, 0}});
    take(&m, SECOND_NS);
    half = 1.959964 * 0.6 / sqrt(6);
    expect(&m, "odd", 10, 10 - half, 10 + half);
    end(&m);
}

static enum estimate_doubt doubt_of(struct measured *m, const char *name, enum estimate_quality *quality) {
    struct view *view;
    struct snapshot *result = collected_result(m->collected, &view);
    assert_non_null(result);
    size_t state = snapshot_state(m->host.layout, 0, host_metric(&m->host, name));
    enum estimate_doubt doubt = snapshot_doubt(result, state);
    *quality = snapshot_quality(result, state);
    snapshot_unref(result);
    return doubt;
}

// A width that few degrees of freedom tell is poor however narrow; where it is wide, the larger part is to blame.
static void test_a_poor_measurement_says_why(void **state) {
    static const struct {
        struct estimate_rounds_of many;
        enum estimate_quality quality;
        enum estimate_doubt doubt;
    } cases[] = {
        {{0.0001, 0, 2, 0, {ESTIMATE_FEW_CARRY, ESTIMATE_SURE}}, ESTIMATE_POOR, ESTIMATE_FEW_CARRY},
        {{0.0001, 0, 20, 0, {ESTIMATE_FEW_CARRY, ESTIMATE_SURE}}, ESTIMATE_GOOD, ESTIMATE_SURE},
        {{100, 0, 20, 0, {ESTIMATE_FEW_CARRY, ESTIMATE_SURE}}, ESTIMATE_POOR, ESTIMATE_VARIES},
        {{1, 5, 20, 0, {ESTIMATE_FEW_CARRY, ESTIMATE_MISSED}}, ESTIMATE_POOR, ESTIMATE_MISSED},
        {{0.0001, 0, 2, 0.1, {ESTIMATE_FEW_CARRY, ESTIMATE_SURE}}, ESTIMATE_GOOD, ESTIMATE_SURE}, // the least is more
        {{NAN, 0, 2, 0, {ESTIMATE_SLEPT, ESTIMATE_SURE}}, ESTIMATE_NONE, ESTIMATE_SLEPT},
    };
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct measured m;
        enum estimate_quality quality;
        begin(&m);
        for (int round = 0; round < 4; round++) {
            set_gauge(&m, "odd", 10, 5);
            set_many(&m, "odd", cases[i].many);
            take(&m, SECOND_NS);
        }
        assert_int_equal(doubt_of(&m, "odd", &quality), cases[i].doubt);
        assert_int_equal(quality, cases[i].quality);
        end(&m);
    }
}

// Of another daemon's pages only intervals are known.
static void test_of_intervals_alone_the_newest_poor_one_says_why(void **state) {
    (void)state;
    struct measured m;
    enum estimate_quality quality;
    begin_as(&m, true);
    for (int round = 0; round < 2; round++) {
        set_gauge(&m, "odd", 10, 5);
        snapshot_set_trust(m.next, snapshot_state(m.host.layout, 0, host_metric(&m.host, "odd")), ESTIMATE_POOR,
                           round == 0 ? ESTIMATE_FEW_ROUNDS : ESTIMATE_MISSED);
        take(&m, SECOND_NS);
    }
    assert_int_equal(doubt_of(&m, "odd", &quality), ESTIMATE_MISSED);
    assert_int_equal(quality, ESTIMATE_POOR);
    end(&m);
}

// An average round's interval is not that of a round which missed much, and says nothing of what one round has.
static void test_one_round_is_as_certain_as_its_snapshots_say(void **state) {
    static const struct {
        bool each;
        unsigned snapshots;
        double rounds;
    } cases[] = {{true, 1, 1}, {false, 1, 1}, {false, 10, 0.1}, {false, 4, 0.251}};
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct measured m;
        begin_as(&m, cases[i].each);
        double round_ns = (double)m.host.plan->round_ns;
        uint64_t ns = (uint64_t)(cases[i].rounds * round_ns);
        for (unsigned n = 0; n < cases[i].snapshots; n++) {
            set_gauge(&m, "odd", 10, 3);
            set_many(&m, "odd", (struct estimate_rounds_of){0.04, 0, INFINITY, 0, {0, 0}});
            take(&m, ns);
        }
        double half = 3 / sqrt(fmax((double)ns * cases[i].snapshots / round_ns, 1));
        expect(&m, "odd", 10, 10 - half, 10 + half);
        end(&m);
    }
}

// Takes in a snapshot of the layout that the host has now, with the gauge and the variance of its rounds.
static void take_of_other(struct measured *m, double gauge, double variance) {
    snapshot_unref(m->next);
    m->next = snapshot_new(m->host.layout);
    assert_non_null(m->next);
    m->next->start_ns = m->now_ns;
    m->next->end_ns = m->now_ns += SECOND_NS;
    set_gauge(m, "odd", gauge, 5);
    set_many(m, "odd", (struct estimate_rounds_of){variance, 0, INFINITY, 0, {0, 0}});
    assert_int_equal(collected_take(m->collected, m->view, m->next), 0);
}

// Two rounds under each plan: the sum of four rounds' variances, and each plan's own error that stays, by its rounds.
static void test_each_plans_rounds_are_as_certain_as_that_plan_says(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    for (int round = 0; round < 2; round++) {
        set_gauge(&m, "odd", 10, 5);
        set_many(&m, "odd", (struct estimate_rounds_of){0.04, 0.1, INFINITY, 0, {0, 0}});
        take(&m, SECOND_NS);
    }
    struct snapshot_layout *other = host_layout(m.host.catalog, 3), *first = m.host.layout;
    m.host.layout = other;
    take_of_other(&m, 10, NAN);
    take_of_other(&m, 10, 0.12);
    double half = 1.959964 * sqrt((2 * 0.04 + 2 * 0.12) / 16 + (2 * 0.1 / 4) * (2 * 0.1 / 4));
    expect(&m, "odd", 10, 10 - half, 10 + half);
    m.host.layout = first;
    snapshot_layout_unref(other);
    end(&m);
}

// Where rounds are longer than snapshots, a plan begins without a gauge, and then without a variance.
static void test_a_plan_that_has_told_nothing_yet_is_as_certain_as_the_one_before(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    for (int round = 0; round < 2; round++) {
        set_gauge(&m, "odd", 10, 5);
        set_many(&m, "odd", (struct estimate_rounds_of){0.04, 0, INFINITY, 0, {0, 0}});
        take(&m, SECOND_NS);
    }
    struct snapshot_layout *other = host_layout(m.host.catalog, 3), *first = m.host.layout;
    m.host.layout = other;
    double halves[] = {1.959964 * sqrt(0.04 / 2), 1.959964 * sqrt(0.04 / 3),
                       1.959964 * sqrt((2 * 0.04 + 2 * 0.12) / 16)};
    take_of_other(&m, NAN, NAN);
    expect(&m, "odd", 10, 10 - halves[0], 10 + halves[0]);
    take_of_other(&m, 10, NAN);
    expect(&m, "odd", 10, 10 - halves[1], 10 + halves[1]);
    take_of_other(&m, 10, 0.12);
    expect(&m, "odd", 10, 10 - halves[2], 10 + halves[2]);
    m.host.layout = first;
    snapshot_layout_unref(other);
    end(&m);
}

// Too few windows in the end: what was known before is of another time.
static void test_there_is_no_interval_where_the_newest_snapshot_knows_none(void **state) {
    (void)state;
    struct measured m;
    begin(&m);
    for (int round = 0; round < 3; round++) {
        set_gauge(&m, "odd", 10, 5);
        set_many(&m, "odd", (struct estimate_rounds_of){round < 2 ? 0.04 : NAN, 0, INFINITY, 0, {0, 0}});
        take(&m, SECOND_NS);
    }
    struct view *view;
    struct snapshot *result = collected_result(m.collected, &view);
    assert_non_null(result);
    size_t metric = host_metric(&m.host, "odd");
    assert_true(isnan(result->values[snapshot_high(m.host.layout, 0, metric)]));
    assert_int_equal(snapshot_quality(result, snapshot_state(m.host.layout, 0, metric)), ESTIMATE_NONE);
    snapshot_unref(result);
    end(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_is_what_its_totals_grew_by_not_the_mean_of_its_gauges),
        cmocka_unit_test(test_without_totals_it_is_the_mean_of_the_gauges_that_there_are),
        cmocka_unit_test(test_no_interval_goes_below_0_for_what_is_not_negative),
        cmocka_unit_test(test_snapshots_within_a_round_do_not_make_it_more_or_less_certain),
        cmocka_unit_test(test_counts_are_those_since_the_beginning_and_unknown_under_another_plan),
        cmocka_unit_test(test_many_rounds_are_as_certain_as_the_newest_snapshot_says_of_them),
        cmocka_unit_test(test_one_round_is_as_certain_as_its_snapshots_say),
        cmocka_unit_test(test_a_poor_measurement_says_why),
        cmocka_unit_test(test_of_intervals_alone_the_newest_poor_one_says_why),
        cmocka_unit_test(test_each_plans_rounds_are_as_certain_as_that_plan_says),
        cmocka_unit_test(test_a_plan_that_has_told_nothing_yet_is_as_certain_as_the_one_before),
        cmocka_unit_test(test_there_is_no_interval_where_the_newest_snapshot_knows_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
