// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/derive_host.h"

#include "core/recording/recording_resident.h"

// Recordings from before event groups were led: windows of the resident group and of a rotating one, made by hand, are
// joined as derive did then.

enum { WINDOWS_MAX = 64, COUNTS_MAX = 1024 };

// The plan of those days: A and B take turns, each beside the resident group, which comes last and has no slots.
static struct plan *resident_plan(struct host *host) {
    struct plan *plan = host_plan(host, 2);
    struct plan_unit *common = &plan->units[plan->common_unit];
    struct plan_group *resident = &plan->groups[plan->n_groups];
    for (size_t g = 0; g < plan->n_groups; g++) {
        plan->groups[g].n_events -= common->n_events; // which come first
        memmove(plan->groups[g].events, plan->groups[g].events + common->n_events,
                plan->groups[g].n_events * sizeof *common->events);
    }
    *resident =
        (struct plan_group){.name = "resident", .n_events = common->n_events, .unit = (unsigned)plan->common_unit};
    resident->events = calloc(common->n_events, sizeof *resident->events);
    assert_non_null(resident->events);
    memcpy(resident->events, common->events, common->n_events * sizeof *resident->events);
    common->first_group = (unsigned)plan->n_groups++;
    common->n_groups = 1;
    plan->common_unit = -1;
    assert_true(recording_resident_plan(plan, (int)common->first_group));
    return plan;
}

static void resident_init(struct host *host) {
    host_init(host, led_builder());
    metric_of(host->builder, "a", "A / INST", NULL);
    metric_of(host->builder, "b", "B / INST", NULL);
    metric_of(host->builder, "ipc", "INST / SLOTS", NULL);
    group_of(host->builder, "G", "frontend_bound backend_bound a b ipc");
    host_start_plan(host, resident_plan(host));
    readings_free(host->readings);
    host->readings = readings_new_sized(0, WINDOWS_MAX, COUNTS_MAX);
    assert_non_null(host->readings);
    readings_begin(host->readings, 0, SECOND_NS);
    assert_true(recording_resident_pairs(host->layout->plan));
}

static void end_pairs(struct host *host, unsigned seconds) {
    assert_int_equal(recording_resident_round(host->readings, host->layout->plan, CPUS), 0);
    end_round(host, seconds);
    free(host->readings->made);
    host->readings->made = NULL;
}

static const uint64_t SLOT_A[R_N] = {[R_SLOTS] = 1000, [R_RET] = 3, [R_FE] = 1, [R_INST] = 100, [R_A] = 50};
static const uint64_t SLOT_B[R_N] = {[R_SLOTS] = 3000, [R_RET] = 1, [R_FE] = 1, [R_INST] = 400, [R_B] = 100};

static struct window *resident_window(struct host *host, const uint64_t *counts) {
    return window_of(host, 0, group_with(host, R_INST), counts);
}

static void expect_total(const struct host *host, size_t place, double wanted) {
    near("total", host->snapshot->values[place], wanted);
}

static void expect_basis(const struct host *host, const char *metric, double windows, double share) {
    size_t scope = cpu_scope(host, 0), m = metric_place(host, metric);
    near("windows", host->snapshot->values[snapshot_metric_windows(host->layout, scope, m)], windows);
    near("share", host->snapshot->values[snapshot_share_of_time(host->layout, scope, m)], share);
}

static void test_a_rotating_group_is_read_with_the_resident_one_of_its_slot(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    (void)resident_window(&host, SLOT_B);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B);
    end_pairs(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 0.5);
    expect(&host, cpu_scope(&host, 0), "b", 0.25);
    expect(&host, cpu_scope(&host, 0), "ipc", 500.0 / 4000); // of both slots
    expect_basis(&host, "a", 1, 0.5);
    expect_basis(&host, "ipc", 2, 1);
    // totals: a stands for both seconds
    expect_total(&host, snapshot_numerator(host.layout, 0, metric_place(&host, "a")), 100);
    expect_total(&host, snapshot_denominator(host.layout, 0, metric_place(&host, "a")), 200);
    expect_total(&host, snapshot_numerator(host.layout, 0, metric_place(&host, "ipc")), 500);
    // level 1: 1/4 of 1000 and 1/2 of 3000
    expect_total(&host, snapshot_category(host.layout, 0, 0), 1750);
    expect_total(&host, snapshot_category(host.layout, 0, 1), 2250);
    expect_total(&host, snapshot_pipeline_slots(host.layout, 0), 4000);
    for (size_t e = 0; e < host.layout->n_events; e++) // each of its events counts once
        if (host.layout->events[e] == R_INST)
            expect_total(&host, snapshot_event(host.layout, 0, e), 500);
    expect_total(&host, snapshot_covered(host.layout, cpu_scope(&host, 0)), 2);
    host_deinit(&host);
}

static void test_windows_of_unequal_length_are_brought_to_the_rotating_ones(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    struct window *resident = resident_window(&host, SLOT_A);
    resident->enabled_ns = 2 * SECOND_NS; // it began earlier and counted half as much a second
    resident->running_ns = SECOND_NS;     // and shared its counters
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    end_pairs(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 50.0 / (100 * 2 / 2));
    expect_basis(&host, "a", 1, 0.25); // half of it was not counted together
    host_deinit(&host);
}

static void test_a_starved_resident_group_starves_what_needs_it_in_that_slot(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    fail_window(resident_window(&host, SLOT_B), WINDOW_STARVED, 0);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B);
    end_pairs(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 0.5);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_STARVED);
    expect(&host, cpu_scope(&host, 0), "ipc", 0.1); // of the other slot
    assert_true(host.snapshot->values[snapshot_denominator(host.layout, 0, metric_place(&host, "b"))] == 0);
    // one metric of five was not covered; the next round may still make up for it
    expect_total(&host, snapshot_covered(host.layout, cpu_scope(&host, 0)), 2 * 4.0 / 5);
    host_deinit(&host);
}

static void test_what_the_resident_group_counted_is_in_the_totals_once(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    (void)resident_window(&host, SLOT_B);
    fail_window(window_of(&host, 0, group_with(&host, R_B), SLOT_B), WINDOW_STARVED, 0);
    end_pairs(&host, 2);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_STARVED);
    expect(&host, cpu_scope(&host, 0), "ipc", 500.0 / 4000);
    bool found = false;
    for (size_t e = 0; e < host.layout->n_events; e++) {
        if (host.layout->events[e] != R_INST)
            continue;
        expect_total(&host, snapshot_event(host.layout, 0, e), 500);
        found = true;
    }
    assert_true(found);
    host_deinit(&host);
}

static void test_a_resident_window_is_good_for_one_slot(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    (void)resident_window(&host, SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_A), SLOT_A);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B); // without one
    end_pairs(&host, 2);
    expect(&host, cpu_scope(&host, 0), "a", 0.5);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_FAILED);
    (void)resident_window(&host, SLOT_B); // of the round before
    end_pairs(&host, 1);
    (void)window_of(&host, 0, group_with(&host, R_B), SLOT_B);
    end_pairs(&host, 1);
    expect_absent(&host, cpu_scope(&host, 0), "b", ABSENT_FAILED);
    host_deinit(&host);
}

static void test_a_cpu_that_is_away_is_offline_in_both_groups(void **state) {
    (void)state;
    struct host host;
    resident_init(&host);
    fail_window(resident_window(&host, SLOT_A), WINDOW_FAILED, -ENODEV);
    fail_window(window_of(&host, 0, group_with(&host, R_A), SLOT_A), WINDOW_FAILED, -ENODEV);
    end_pairs(&host, 2);
    expect_absent(&host, cpu_scope(&host, 0), "a", ABSENT_OFFLINE);
    expect_absent(&host, cpu_scope(&host, 0), "ipc", ABSENT_OFFLINE);
    expect_total(&host, snapshot_offline(host.layout, 0), 1);
    host_deinit(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rotating_group_is_read_with_the_resident_one_of_its_slot),
        cmocka_unit_test(test_windows_of_unequal_length_are_brought_to_the_rotating_ones),
        cmocka_unit_test(test_a_starved_resident_group_starves_what_needs_it_in_that_slot),
        cmocka_unit_test(test_what_the_resident_group_counted_is_in_the_totals_once),
        cmocka_unit_test(test_a_resident_window_is_good_for_one_slot),
        cmocka_unit_test(test_a_cpu_that_is_away_is_offline_in_both_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
