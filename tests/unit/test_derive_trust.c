// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <errno.h>
#include <math.h>

#include "core/tally/derive.h"

// Readings made by hand go through derive; the same sums, added up here, go to core/estimate directly. The snapshot
// must agree with core/estimate.

#define SECOND_NS UINT64_C(1000000000)

enum { CPUS = 3 };

struct rig {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct derive *derive;
    struct readings *readings;
    struct snapshot *snapshot;
    struct estimate *direct;
    struct rows *rows; // of the one unit
    struct cells *cells;
    uint64_t random;
};

// Two CPUs on socket 0, one on the `last` one; the catalog's only group, twice in a round of slots of a second.
static void rig_init_on(struct rig *rig, struct catalog *catalog, unsigned counters, int last) {
    const struct topology_source cpus[CPUS] = {{0, 0, 0, true}, {1, 1, 0, true}, {2, 2, last, true}};
    const struct plan_selection selection = {.group = 0, .weight = 2};
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = counters,
                                         .selections = &selection,
                                         .n_selections = 1,
                                         .slot_ns = SECOND_NS};
    struct plan *plan = build_plan(&request);
    struct topology *topology = build_topology(cpus, CPUS);
    *rig = (struct rig){.catalog = catalog, .random = 7};
    assert_int_equal(plan->n_units, 1);
    rig->layout = build_layout(plan, topology);
    rig->derive = derive_new(rig->layout);
    rig->readings = readings_new(plan, topology);
    rig->direct = estimate_new(plan, topology, ESTIMATE_MEMORY_ROUNDS);
    rig->rows = rows_new(plan);
    rig->cells = cells_new(rig->rows, CPUS);
    assert_true(rig->derive && rig->readings && rig->direct && rig->rows && rig->cells);
    readings_begin(rig->readings, 0, SECOND_NS);
}

static void rig_init(struct rig *rig, struct catalog *catalog, unsigned counters) {
    rig_init_on(rig, catalog, counters, 1);
}

static void rig_free(struct rig *rig) {
    cells_free(rig->cells);
    rows_free(rig->rows);
    estimate_free(rig->direct);
    snapshot_unref(rig->snapshot);
    readings_free(rig->readings);
    derive_free(rig->derive);
    snapshot_layout_unref(rig->layout);
    catalog_free(rig->catalog);
}

static struct catalog *two_ratios(void) {
    static const char *const events[] = {"A", "B"};
    struct catalog_builder *builder = builder_of(events, 2);
    const struct catalog_metric_text ratio = {
        .name = "ratio", .formula = "A / B", .rate_threshold = 1, .rate_advice = "Look."};
    struct fault error;
    assert_true(catalog_builder_add_metric(builder, &ratio, &error) >= 0);
    metric_of(builder, "made", "2 * ratio", "");
    group_of(builder, "all", "ratio made");
    return catalog_builder_finish(builder);
}

static uint64_t draw(struct rig *rig) { return 1000 + (uint64_t)(1000 * random_unit(&rig->random)); }

// A window of a second of the only event group, `running_ns` of it on the counters.
static void count(struct rig *rig, unsigned cpu, uint64_t running_ns, uint64_t a, uint64_t b) {
    struct window *window = readings_add(rig->readings, cpu, 0, 2);
    double scale = (double)SECOND_NS / (double)running_ns;
    window->result = running_ns < SECOND_NS ? WINDOW_CONTENDED : WINDOW_COMPLETE;
    window->enabled_ns = SECOND_NS;
    window->running_ns = running_ns;
    window->counts[0] = a;
    window->counts[1] = b;
    cells_add_values(rig->cells, cpu, 0, (const double[]){1, (double)a * scale, (double)b * scale});
    cells_note_window(rig->cells, cpu, 0, (double)running_ns * 1e-9);
}

// Ends the round `seconds` after it began: derive extrapolates to `counted_seconds` of them.
static void end_round(struct rig *rig, unsigned seconds, double counted_seconds) {
    struct readings *readings = rig->readings;
    readings->end_ns = readings->start_ns + seconds * SECOND_NS;
    snapshot_unref(rig->snapshot);
    rig->snapshot = snapshot_new(rig->layout);
    assert_non_null(rig->snapshot);
    derive_round(rig->derive, readings, rig->snapshot);
    readings_begin(readings, readings->round + 1, readings->end_ns);
    for (size_t cpu = 0; cpu < rig->cells->n_cpus; cpu++)
        cells_end_round(rig->cells, cpu, counted_seconds);
    estimate_take_round(rig->direct, rig->cells, counted_seconds);
    for (size_t cpu = 0; cpu < rig->cells->n_cpus; cpu++)
        cells_begin_round(rig->cells, cpu);
}

// Two windows on each CPU, one of them contended on CPU 1.
static void usual_round(struct rig *rig) {
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        for (unsigned i = 0; i < 2; i++)
            count(rig, cpu, cpu == 1 && i == 0 ? SECOND_NS / 4 : SECOND_NS, draw(rig), draw(rig));
    end_round(rig, 4, 4);
}

static void expect(const char *what, double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted)) && !(isnan(value) && isnan(wanted)))
        fail_msg("%s: %.17g, should be %.17g", what, value, wanted);
}

static void expect_as_direct(const struct rig *rig) {
    const struct snapshot_layout *layout = rig->layout;
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        for (size_t m = 0; m < layout->n_metrics; m++) {
            const double *values = rig->snapshot->values;
            double value = values[snapshot_metric(layout, scope, m)];
            struct estimate_interval direct = estimate_get(rig->direct, scope, m, value, 1);
            expect("error", values[snapshot_standard_error(layout, scope, m)], direct.standard_error);
            expect("low", values[snapshot_low(layout, scope, m)], direct.low);
            expect("high", values[snapshot_high(layout, scope, m)], direct.high);
            assert_int_equal(snapshot_quality(rig->snapshot, snapshot_state(layout, scope, m)), direct.quality);
        }
    }
}

static double error_of(const struct rig *rig, size_t scope) {
    return rig->snapshot->values[snapshot_standard_error(rig->layout, scope, 0)];
}

static void expect_basis(const struct rig *rig, size_t scope, double windows, double share) {
    for (size_t m = 0; m < 2; m++) { // the second is made of the first alone
        expect("windows", rig->snapshot->values[snapshot_metric_windows(rig->layout, scope, m)], windows);
        expect("share", rig->snapshot->values[snapshot_share_of_time(rig->layout, scope, m)], share);
    }
}

static void test_intervals_are_those_of_the_rounds_sums(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, two_ratios(), 4);
    usual_round(&rig);
    assert_true(isnan(error_of(&rig, 0)));
    assert_int_equal(snapshot_quality(rig.snapshot, 0), ESTIMATE_NONE);
    for (int i = 0; i < 20; i++) {
        usual_round(&rig);
        expect_as_direct(&rig);
        assert_true(error_of(&rig, 0) > 0 && error_of(&rig, snapshot_scope_cpu(rig.layout, 2)) > 0);
    }
    rig_free(&rig);
}

// Every field of the gauges except the rate, which only the host has.
static void expect_scope_is_host(const struct rig *rig, size_t scope, const struct rig *of) {
    const double *values = rig->snapshot->values, *host = of->snapshot->values;
    const struct snapshot_layout *layout = rig->layout;
    size_t first = snapshot_metric(layout, scope, 0), last = snapshot_level1_error(layout, scope);
    size_t rate = snapshot_rate_above(layout, 0, 0);
    for (size_t i = 0; i <= last - first; i++)
        if (i < rate || i >= rate + layout->n_metrics)
            expect("host's value", values[first + i], host[i]);
    for (size_t m = 0; m < layout->n_metrics; m++) {
        assert_true(isnan(values[snapshot_rate_above(layout, scope, m)]));
        assert_int_equal(rig->snapshot->absent[snapshot_state(layout, scope, m)], of->snapshot->absent[m]);
        assert_int_equal(snapshot_quality(rig->snapshot, snapshot_state(layout, scope, m)),
                         snapshot_quality(of->snapshot, m));
    }
}

// The same readings on one socket and on two give the same host.
static void test_the_only_socket_is_the_host(void **state) {
    (void)state;
    struct rig one, two;
    rig_init_on(&one, two_ratios(), 4, 0);
    rig_init_on(&two, two_ratios(), 4, 1);
    assert_true(one.layout->topology->n_sockets == 1 && two.layout->topology->n_sockets == 2);
    for (int i = 0; i < 5; i++) {
        usual_round(&one);
        usual_round(&two);
        expect_scope_is_host(&one, snapshot_scope_socket(0), &two);
    }
    double rate = one.snapshot->values[snapshot_rate_above(one.layout, 0, 0)];
    assert_true(rate > 0 && error_of(&two, 0) > 0 && error_of(&two, 0) != error_of(&two, snapshot_scope_socket(0)));
    rig_free(&two);
    rig_free(&one);
}

// 4 s, two windows of a second on each CPU; on CPU 1 three quarters of one are lost to others.
static void test_windows_and_time_are_counted_per_scope(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, two_ratios(), 4);
    usual_round(&rig);
    expect_basis(&rig, 0, 6, 5.25 / 12);
    expect_basis(&rig, snapshot_scope_socket(0), 4, 3.25 / 8);
    expect_basis(&rig, snapshot_scope_socket(1), 2, 0.5);
    expect_basis(&rig, snapshot_scope_cpu(rig.layout, 1), 2, 1.25 / 4);
    rig_free(&rig);
}

static void lose(struct rig *rig, unsigned cpu, int error) {
    struct window *window = readings_add(rig->readings, cpu, 0, 2);
    window->result = WINDOW_FAILED;
    window->error = error;
}

static void test_a_cpu_that_was_away_is_not_compared_and_takes_no_time(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, two_ratios(), 4);
    size_t cpu2 = snapshot_scope_cpu(rig.layout, 2);
    usual_round(&rig);
    usual_round(&rig);
    count(&rig, 0, SECOND_NS, draw(&rig), draw(&rig));
    count(&rig, 1, SECOND_NS, draw(&rig), draw(&rig));
    lose(&rig, 2, -ENODEV);
    estimate_forget_cpu(rig.direct, 2);
    end_round(&rig, 4, 4);
    expect_as_direct(&rig);
    expect_basis(&rig, 0, 2, 0.25); // of the two that were there
    expect_basis(&rig, cpu2, NAN, NAN);
    assert_true(isnan(error_of(&rig, cpu2)));
    for (int i = 0; i < 3; i++) {
        usual_round(&rig);
        expect_as_direct(&rig);
    }
    rig_free(&rig);
}

static void forget_all(struct rig *rig) {
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        estimate_forget_cpu(rig->direct, cpu);
}

static void test_rounds_before_and_after_a_pause_are_not_compared(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, two_ratios(), 4);
    usual_round(&rig);
    usual_round(&rig);
    uint64_t now_ns = rig.readings->start_ns + 30 * SECOND_NS;
    derive_pause(rig.derive, now_ns, UNCOVERED_YIELDED);
    readings_begin(rig.readings, 2, now_ns);
    forget_all(&rig);
    usual_round(&rig);
    expect_as_direct(&rig);
    usual_round(&rig);
    expect_as_direct(&rig);
    rig_free(&rig);
}

// Slots are of a second, and there is no idle one: a round is planned for 2 s, so 60 s are a gap and 2 s of sample.
static void test_rounds_before_and_after_a_gap_are_not_compared(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, two_ratios(), 4);
    assert_true(rig.layout->plan->round_ns == 2 * SECOND_NS);
    usual_round(&rig);
    usual_round(&rig);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        count(&rig, cpu, SECOND_NS, draw(&rig), draw(&rig));
    forget_all(&rig);
    end_round(&rig, 60, 2);
    expect_as_direct(&rig);
    usual_round(&rig);
    expect_as_direct(&rig);
    rig_free(&rig);
}

// 12 s without data are more than three rounds; for 4 s the later data stands in, and the rounds around them are
// compared.
static void test_what_is_made_up_for_is_compared_and_what_is_given_up_is_not(void **state) {
    (void)state;
    for (int rounds = 1; rounds <= 3; rounds += 2) {
        struct rig rig;
        rig_init(&rig, two_ratios(), 4);
        usual_round(&rig);
        usual_round(&rig);
        for (int i = 0; i < rounds; i++) {
            lose(&rig, 0, -EIO);
            lose(&rig, 1, -EIO);
            lose(&rig, 2, -EIO);
            end_round(&rig, 4, 4);
        }
        if (rounds == 3)
            forget_all(&rig);
        usual_round(&rig);
        expect_as_direct(&rig);
        rig_free(&rig);
    }
}

// Another plan knows nothing of the rounds before it.
static void test_a_new_plan_starts_anew(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig, two_ratios(), 4);
    for (int i = 0; i < 3; i++)
        usual_round(&rig);
    assert_true(error_of(&rig, 0) > 0);
    struct derive *next = derive_new(rig.layout);
    assert_non_null(next);
    assert_int_equal(derive_continue(next, rig.derive), 0);
    derive_free(rig.derive);
    rig.derive = next;
    usual_round(&rig);
    assert_true(isnan(error_of(&rig, 0)));
    expect_basis(&rig, 0, 6, 5.25 / 12);
    usual_round(&rig);
    assert_true(error_of(&rig, 0) > 0);
    rig_free(&rig);
}

// Two counters: CYCLES with A, CYCLES with B, CYCLES with C; each counts a second of the three of a whole window.
static void test_parts_of_a_composite_cover_a_part_of_their_time(void **state) {
    (void)state;
    static const char *const events[] = {"CYCLES", "A", "B", "C"};
    static const char *const parts[][2] = {{"CYCLES", "A"}, {"CYCLES", "B"}, {"CYCLES", "C"}};
    struct catalog_builder *builder = builder_of(events, 4);
    struct fault error;
    struct rig rig;
    level1_of(builder, "4 * CYCLES", "100 * A / (4 * CYCLES)", "100 * (B + C) / (4 * CYCLES)");
    group_of(builder, "L1", "frontend_bound backend_bound");
    for (size_t i = 0; i < N_OF(parts); i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    struct catalog *catalog = catalog_builder_finish(builder);
    rig_init(&rig, catalog, 2);
    assert_int_equal(rig.layout->plan->n_groups, 3);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        for (unsigned g = 0; g < 3; g++) {
            struct window *window = readings_add(rig.readings, cpu, g, 2);
            window->result = WINDOW_COMPLETE;
            window->enabled_ns = window->running_ns = SECOND_NS;
            window->counts[0] = 1000;
            window->counts[1] = 500;
        }
    end_round(&rig, 6, 6);
    expect_basis(&rig, 0, 3, 1.0 / 6);
    rig_free(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_are_those_of_the_rounds_sums),
        cmocka_unit_test(test_the_only_socket_is_the_host),
        cmocka_unit_test(test_windows_and_time_are_counted_per_scope),
        cmocka_unit_test(test_a_cpu_that_was_away_is_not_compared_and_takes_no_time),
        cmocka_unit_test(test_rounds_before_and_after_a_pause_are_not_compared),
        cmocka_unit_test(test_rounds_before_and_after_a_gap_are_not_compared),
        cmocka_unit_test(test_what_is_made_up_for_is_compared_and_what_is_given_up_is_not),
        cmocka_unit_test(test_a_new_plan_starts_anew),
        cmocka_unit_test(test_parts_of_a_composite_cover_a_part_of_their_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
