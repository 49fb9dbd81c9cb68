// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <math.h>

#include "core/tally/derive.h"

// Readings made by hand, and values worked out by hand.

enum { CYCLES = 1, A, B, C, N_EVENTS };

#define SECOND_NS UINT64_C(1000000000)

struct host {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct derive *derive;
    struct readings *readings;
    struct snapshot *snapshot; // the newest
};

static struct catalog_builder *level1_builder(const char *frontend, const char *backend) {
    static const char *const events[] = {"CYCLES", "A", "B", "C"};
    struct catalog_builder *builder = builder_of(events, N_OF(events));
    level1_of(builder, "4 * CYCLES", frontend, backend);
    group_of(builder, "L1", "frontend_bound backend_bound");
    return builder;
}

// Measures the catalog's only group, twice a round, in slots of a second, on the `n` CPUs from `first` on, with a
// socket each.
static struct snapshot_layout *layout_of(struct catalog *catalog, unsigned counters, unsigned first, size_t n) {
    static const uint8_t support[N_EVENTS] = {PLAN_SUPPORTED, PLAN_SUPPORTED, PLAN_SUPPORTED, PLAN_SUPPORTED,
                                              PLAN_SUPPORTED};
    const struct plan_selection selection = {.group = 0, .weight = 2};
    const struct plan_request request = {.catalog = catalog,
                                         .general_counters = counters,
                                         .selections = &selection,
                                         .n_selections = 1,
                                         .slot_ns = SECOND_NS,
                                         .support = support};
    struct topology_source cpus[4];
    assert_true(n <= N_OF(cpus) && catalog->n_events <= N_EVENTS);
    for (unsigned i = 0; i < n; i++)
        cpus[i] = (struct topology_source){.id = first + i, .package = (int)(first + i), .selected = true};
    struct plan *plan = build_plan(&request);
    assert_int_equal(plan->n_units, 1);
    return build_layout(plan, build_topology(cpus, n));
}

static void host_init_on(struct host *host, struct catalog *catalog, unsigned counters, unsigned first, size_t n) {
    *host = (struct host){.catalog = catalog, .layout = layout_of(catalog, counters, first, n)};
    host->derive = derive_new(host->layout);
    host->readings = readings_new(host->layout->plan, host->layout->topology);
    assert_non_null(host->derive);
    assert_non_null(host->readings);
    readings_begin(host->readings, 0, SECOND_NS);
}

static void host_init(struct host *host, struct catalog *catalog, unsigned counters, size_t n) {
    host_init_on(host, catalog, counters, 0, n);
}

static void host_deinit(struct host *host) {
    snapshot_unref(host->snapshot);
    readings_free(host->readings);
    derive_free(host->derive);
    snapshot_layout_unref(host->layout);
    catalog_free(host->catalog);
}

// A window of a second that counted these, in the order of the event group's events.
static void counted(struct host *host, unsigned cpu, unsigned group, size_t n, const uint64_t *counts) {
    assert_int_equal(n, host->layout->plan->groups[group].n_events);
    struct window *window = readings_add(host->readings, cpu, group, n);
    window->result = WINDOW_COMPLETE;
    window->enabled_ns = window->running_ns = SECOND_NS;
    memcpy(window->counts, counts, n * sizeof *counts);
}
#define COUNTED(host, cpu, group, ...)                                                                                 \
    counted(host, cpu, group, N_OF(((const uint64_t[]){__VA_ARGS__})), (const uint64_t[]){__VA_ARGS__})

static void starved(struct host *host, unsigned cpu, unsigned group) {
    struct window *window = readings_add(host->readings, cpu, group, host->layout->plan->groups[group].n_events);
    window->result = WINDOW_STARVED;
    window->enabled_ns = SECOND_NS;
}

// Ends a round of this many seconds and begins the next.
static void end_round_with(struct host *host, unsigned seconds, struct snapshot *out) {
    struct readings *readings = host->readings;
    readings->end_ns = readings->start_ns + seconds * SECOND_NS;
    derive_round(host->derive, readings, out);
    readings_begin(readings, readings->round + 1, readings->end_ns);
}

static void end_round(struct host *host, unsigned seconds) {
    snapshot_unref(host->snapshot);
    host->snapshot = snapshot_new(host->layout);
    assert_non_null(host->snapshot);
    end_round_with(host, seconds, host->snapshot);
}

static void expect(const char *what, double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s: %.17g, should be %.17g", what, value, wanted);
}

// Totals of level 1 in a scope; pipeline slots are their sum.
static void expect_level1(const struct host *host, size_t scope, double frontend, double backend) {
    const double *values = host->snapshot->values;
    expect("frontend_bound", values[snapshot_category(host->layout, scope, 0)], frontend);
    expect("backend_bound", values[snapshot_category(host->layout, scope, 1)], backend);
    expect("pipeline slots", values[snapshot_pipeline_slots(host->layout, scope)], frontend + backend);
}

static double event_total(const struct host *host, unsigned event) {
    for (size_t e = 0; e < host->layout->n_events; e++)
        if (host->layout->events[e] == event)
            return host->snapshot->values[snapshot_event(host->layout, 0, e)];
    fail();
    return 0;
}

// ---- composites ----

// Two counters: CYCLES with A, CYCLES with B, CYCLES with C.
static void composite_init(struct host *host) {
    static const char *const parts[][2] = {{"CYCLES", "A"}, {"CYCLES", "B"}, {"CYCLES", "C"}};
    struct catalog_builder *builder = level1_builder("100 * A / (4 * CYCLES)", "100 * (B + C) / (4 * CYCLES)");
    struct fault error;
    for (size_t i = 0; i < N_OF(parts); i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    host_init(host, catalog_builder_finish(builder), 2, 1);
    assert_int_equal(host->layout->plan->n_groups, 3);
    assert_int_equal(host->layout->plan->units[0].reference, CYCLES);
}

static void expect_nothing_measured(const struct host *host) {
    expect_level1(host, 0, 0, 0);
    for (unsigned event = CYCLES; event < N_EVENTS; event++)
        assert_true(event_total(host, event) == 0);
}

static void test_parts_are_scaled_to_the_whole_by_the_event_in_all_of_them_while_the_load_changes(void **state) {
    (void)state;
    struct host host;
    composite_init(&host);
    COUNTED(&host, 0, 0, 1000, 1000); // A: 1 a cycle
    COUNTED(&host, 0, 1, 3000, 3000); // B: 1 a cycle
    COUNTED(&host, 0, 2, 2000, 4000); // C: 2 a cycle, of 6000
    end_round(&host, 3);
    expect("CYCLES", event_total(&host, CYCLES), 6000);
    expect("A", event_total(&host, A), 6000); // by time it would be 3000
    expect("B", event_total(&host, B), 6000);
    expect("C", event_total(&host, C), 12000);
    expect_level1(&host, 0, 6000, 18000);
    host_deinit(&host);
}

// A burst of 4000 cycles and 500 A or B falls into another part of each of the two composites.
static void test_composites_are_summed_before_their_parts_are_scaled(void **state) {
    (void)state;
    struct host host;
    composite_init(&host);
    COUNTED(&host, 0, 0, 5000, 500);
    COUNTED(&host, 0, 1, 1000, 0);
    COUNTED(&host, 0, 2, 1000, 1000);
    COUNTED(&host, 0, 0, 1000, 0);
    COUNTED(&host, 0, 1, 5000, 500);
    COUNTED(&host, 0, 2, 1000, 1000);
    end_round(&host, 6);
    expect("CYCLES", event_total(&host, CYCLES), 14000);
    expect("A", event_total(&host, A), 500.0 / 6000 * 14000); // one by one 700 + 0
    expect("B", event_total(&host, B), 500.0 / 6000 * 14000);
    expect("C", event_total(&host, C), 14000);
    COUNTED(&host, 0, 0, 1000, 2000); // of the next round alone
    COUNTED(&host, 0, 1, 1000, 0);
    COUNTED(&host, 0, 2, 1000, 0);
    end_round(&host, 3);
    expect("CYCLES", event_total(&host, CYCLES), 17000);
    expect("A", event_total(&host, A), 500.0 / 6000 * 14000 + 6000);
    expect("B", event_total(&host, B), 500.0 / 6000 * 14000);
    host_deinit(&host);
}

static void test_parts_in_which_the_common_event_never_happens_are_scaled_by_time(void **state) {
    (void)state;
    struct host host;
    composite_init(&host);
    COUNTED(&host, 0, 0, 0, 100);
    COUNTED(&host, 0, 1, 0, 200);
    COUNTED(&host, 0, 2, 0, 300);
    end_round(&host, 3);
    expect("A", event_total(&host, A), 300); // 100 in one second of three
    expect("B", event_total(&host, B), 600);
    expect("C", event_total(&host, C), 900);
    expect_level1(&host, 0, 0, 0);
    host_deinit(&host);
}

static void test_parts_that_are_not_adjacent_are_not_joined(void **state) {
    (void)state;
    static const unsigned orders[][6] = {{0, 2, 1, 2, 1, 0}, {1, 2, 0, 2, 2, 1}, {0, 1, 1, 2, 1, 2}};
    for (size_t i = 0; i < N_OF(orders); i++) {
        struct host host;
        composite_init(&host);
        for (size_t w = 0; w < 6; w++)
            COUNTED(&host, 0, orders[i][w], 1000, 1000);
        end_round(&host, 6);
        expect_nothing_measured(&host);
        assert_int_equal(host.snapshot->absent[0], ABSENT_FAILED);
        host_deinit(&host);
    }
}

static void test_a_starved_part_ends_its_composite(void **state) {
    (void)state;
    struct host host;
    composite_init(&host);
    COUNTED(&host, 0, 0, 1000, 1000);
    COUNTED(&host, 0, 1, 1000, 1000);
    starved(&host, 0, 2);
    starved(&host, 0, 0);
    starved(&host, 0, 1);
    COUNTED(&host, 0, 2, 1000, 2000); // of another composite than the first two
    end_round(&host, 6);
    expect_nothing_measured(&host);
    assert_int_equal(host.snapshot->absent[0], ABSENT_STARVED);
    host_deinit(&host);
}

static void test_parts_of_a_round_before_are_not_joined_to_this_one(void **state) {
    (void)state;
    struct host host;
    composite_init(&host);
    COUNTED(&host, 0, 0, 1000, 1000);
    COUNTED(&host, 0, 1, 1000, 1000);
    end_round(&host, 2);
    COUNTED(&host, 0, 2, 1000, 2000);
    end_round(&host, 1);
    expect_nothing_measured(&host);
    COUNTED(&host, 0, 0, 1000, 1000);
    COUNTED(&host, 0, 1, 1000, 1000);
    COUNTED(&host, 0, 2, 1000, 2000);
    end_round(&host, 3); // stands for itself and for the three seconds before
    expect_level1(&host, 0, 6000, 18000);
    host_deinit(&host);
}

// ---- rounds ----

// Enough counters: CYCLES, A and B are one event group, two slots a round.
static void plain_init(struct host *host, size_t n) {
    host_init(host, catalog_builder_finish(level1_builder("100 * A / (4 * CYCLES)", "100 * B / (4 * CYCLES)")), 4, n);
}

static void test_level_1_and_raw_events_make_up_for_a_short_gap(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 1);
    COUNTED(&host, 0, 0, 1000, 1000, 3000);
    end_round(&host, 2); // one second of two was counted
    expect_level1(&host, 0, 2000, 6000);
    expect("A", event_total(&host, A), 2000);
    starved(&host, 0, 0);
    end_round(&host, 2);
    expect_level1(&host, 0, 2000, 6000);
    expect("A", event_total(&host, A), 2000);
    COUNTED(&host, 0, 0, 2000, 2000, 6000);
    end_round(&host, 2); // a second stands for four
    expect_level1(&host, 0, 2000 + 8000, 6000 + 24000);
    expect("A", event_total(&host, A), 2000 + 8000);
    expect("CYCLES", event_total(&host, CYCLES), 2000 + 8000);
    host_deinit(&host);
}

static void test_a_round_without_memory_for_a_snapshot_is_in_the_totals(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 1);
    COUNTED(&host, 0, 0, 1000, 1000, 3000);
    end_round_with(&host, 1, NULL);
    host.snapshot = snapshot_new(host.layout);
    derive_initial(host.derive, host.snapshot);
    expect_level1(&host, 0, 1000, 3000);
    assert_int_equal(host.snapshot->sequence, 1);
    COUNTED(&host, 0, 0, 500, 1000, 1000);
    end_round(&host, 1);
    expect_level1(&host, 0, 2000, 4000);
    expect("B", event_total(&host, B), 4000);
    expect("covered", host.snapshot->values[snapshot_covered(host.layout, 0)], 2);
    assert_int_equal(host.snapshot->sequence, 2);
    assert_true(host.snapshot->start_ns == 2 * SECOND_NS);
    host_deinit(&host);
}

static void test_what_a_cpu_owes_is_its_own(void **state) {
    (void)state;
    struct host host;
    host_init(&host,
              catalog_builder_finish(level1_builder("100 * (A - C) / (4 * CYCLES)", "100 * (B + C) / (4 * CYCLES)")), 4,
              3);
    COUNTED(&host, 0, 0, 1000, 0, 4000, 400);  // -400 and 4400
    COUNTED(&host, 1, 0, 1000, 1000, 3000, 0); // owes nothing
    COUNTED(&host, 2, 0, 1000, 0, 4000, 40);   // -40 and 4040
    end_round(&host, 1);
    expect_level1(&host, snapshot_scope_cpu(host.layout, 0), 0, 4000);
    expect_level1(&host, snapshot_scope_cpu(host.layout, 1), 1000, 3000);
    expect_level1(&host, snapshot_scope_cpu(host.layout, 2), 0, 4000);
    expect_level1(&host, 0, 1000, 11000);
    for (unsigned cpu = 0; cpu < 3; cpu++)
        COUNTED(&host, cpu, 0, 1000, 1000, 3000, 0);
    end_round(&host, 1);
    expect_level1(&host, snapshot_scope_cpu(host.layout, 0), 600, 7400);
    expect_level1(&host, snapshot_scope_cpu(host.layout, 1), 2000, 6000);
    expect_level1(&host, snapshot_scope_cpu(host.layout, 2), 960, 7040);
    host_deinit(&host);
}

static void test_what_a_cpu_owes_it_owes_under_the_next_plan_too(void **state) {
    (void)state;
    struct host host, next;
    host_init(&host,
              catalog_builder_finish(level1_builder("100 * (A - C) / (4 * CYCLES)", "100 * (B + C) / (4 * CYCLES)")), 4,
              2);
    COUNTED(&host, 0, 0, 1000, 1000, 3000, 0);
    COUNTED(&host, 1, 0, 1000, 0, 4000, 400); // -400 and 4400
    end_round(&host, 1);
    host_init_on(&next, host.catalog, 4, 1, 1); // CPU 1 alone
    assert_int_equal(derive_continue(next.derive, host.derive), 0);
    readings_begin(next.readings, 1, 2 * SECOND_NS);
    COUNTED(&next, 0, 0, 1000, 1000, 3000, 0);
    end_round(&next, 1);
    expect_level1(&next, snapshot_scope_cpu(next.layout, 0), 600, 7400);
    next.catalog = NULL; // the first one's
    host_deinit(&next);
    host_deinit(&host);
}

static void test_each_scope_has_its_own_deviation_from_the_vendors_shares(void **state) {
    (void)state;
    struct host host;
    plain_init(&host, 3);
    COUNTED(&host, 0, 0, 1000, 1200, 2000); // 0.3 and 0.5: scaled to 0.375 and 0.625
    COUNTED(&host, 1, 0, 1000, 2000, 1600); // 0.5 and 0.4: scaled to 5/9 and 4/9
    COUNTED(&host, 2, 0, 1000, 1000, 3000); // they add up
    end_round(&host, 1);
    const double *values = host.snapshot->values;
    const double wanted[] = {0.125, 1.0 / 18, 0};
    for (size_t i = 0; i < 3; i++) {
        expect("of a socket", values[snapshot_deviation(host.layout, snapshot_scope_socket(i))], wanted[i]);
        expect("of a CPU", values[snapshot_deviation(host.layout, snapshot_scope_cpu(host.layout, i))], wanted[i]);
    }
    // 4200 and 6600 of 12000 are 0.35 and 0.55; 1500 + 20000 / 9 + 1000 are the scaled slots of the first
    double first = (1500 + 20000.0 / 9 + 1000) / 12000;
    expect("of the host", values[snapshot_deviation(host.layout, 0)], 1 - first - 0.55);
    host_deinit(&host);
}

static void test_a_rate_is_of_the_whole_host_and_high_above_its_threshold(void **state) {
    (void)state;
    static const char *const events[] = {"FAULTS"};
    struct catalog_builder *builder = builder_of(events, 1);
    const struct catalog_metric_text text = {
        .name = "faults", .formula = "FAULTS / cpu_seconds", .rate_threshold = 100, .rate_advice = "Look."};
    struct fault error;
    assert_true(catalog_builder_add_metric(builder, &text, &error) >= 0);
    group_of(builder, "Faults", "faults");
    struct host host;
    struct catalog *catalog = catalog_builder_finish(builder);
    host_init(&host, catalog, 0, 4);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        COUNTED(&host, cpu, 0, 24 + cpu / 2 * 2); // 24, 24, 26, 26
    end_round(&host, 2);
    expect("rate", host.snapshot->values[snapshot_rate_above(host.layout, 0, 0)], 100);
    assert_true(snapshot_high_rate(host.snapshot, 0) == 0);
    for (unsigned cpu = 0; cpu < 4; cpu++)
        COUNTED(&host, cpu, 0, 30);
    end_round(&host, 2);
    expect("high rate", snapshot_high_rate(host.snapshot, 0), 120);
    expect("per CPU", host.snapshot->values[snapshot_metric(host.layout, 0, 0)], 30);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_scaled_to_the_whole_by_the_event_in_all_of_them_while_the_load_changes),
        cmocka_unit_test(test_composites_are_summed_before_their_parts_are_scaled),
        cmocka_unit_test(test_parts_in_which_the_common_event_never_happens_are_scaled_by_time),
        cmocka_unit_test(test_parts_that_are_not_adjacent_are_not_joined),
        cmocka_unit_test(test_a_starved_part_ends_its_composite),
        cmocka_unit_test(test_parts_of_a_round_before_are_not_joined_to_this_one),
        cmocka_unit_test(test_level_1_and_raw_events_make_up_for_a_short_gap),
        cmocka_unit_test(test_a_round_without_memory_for_a_snapshot_is_in_the_totals),
        cmocka_unit_test(test_what_a_cpu_owes_is_its_own),
        cmocka_unit_test(test_what_a_cpu_owes_it_owes_under_the_next_plan_too),
        cmocka_unit_test(test_each_scope_has_its_own_deviation_from_the_vendors_shares),
        cmocka_unit_test(test_a_rate_is_of_the_whole_host_and_high_above_its_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
