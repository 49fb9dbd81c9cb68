// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

// Hosts change while they are measured. Each fault alone: its effect, and that it affects nothing else.

static void assert_totals_of_cpus_true(const struct pipeline *p, unsigned from, unsigned until) {
    for (unsigned cpu = from; cpu < until; cpu++)
        assert_totals_true(p, snapshot_scope_cpu(p->layout, cpu), 1e-6);
}

static void test_a_cpu_goes_offline_and_comes_back(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "3", 20, 50);
    start(&p);
    size_t cpu3 = snapshot_scope_cpu(p.layout, 3), open_ns = p.topology->n_cpus * p.plan->n_groups;
    pipeline_run_until(&p, 30);
    assert_gauges_absent(&p, cpu3, ABSENT_OFFLINE);
    assert_true(p.snapshot->values[snapshot_offline(p.layout, 0)] == 1);
    assert_true(p.snapshot->values[snapshot_offline(p.layout, 1)] == 0);
    assert_near(pipeline_gauge(&p, 0, "ipc"), 1.5, 1e-6, "ipc of the host");
    assert_near(pipeline_gauge(&p, snapshot_scope_socket(0), "ipc"), 1.5, 1e-6, "ipc of the socket");
    assert_all_accounted(&p, 1e-9); // nothing of an offline CPU's time is pending
    assert_int_equal(p.recorder.n_open, open_ns - p.plan->n_groups);
    pipeline_run_until(&p, 60);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_int_equal(p.recorder.n_open, open_ns);
    assert_true(p.snapshot->values[snapshot_offline(p.layout, 0)] == 0);
    assert_totals_of_cpus_true(&p, 0, 3);
    assert_totals_of_cpus_true(&p, 4, 8);
    // the CPU's own totals stand for what was covered, which is all but the 30 s, to two rounds of 1.6 s
    assert_near(uncovered(&p, cpu3, UNCOVERED_OFFLINE), 30, 0.11, "time offline");
    assert_only_uncovered(&p, 0, UNCOVERED_OFFLINE);
    assert_near(p.snapshot->values[snapshot_denominator(p.layout, cpu3, pipeline_metric(&p, "ipc"))],
                2e9 * covered(&p, cpu3), 0.05, "cycles of the CPU");
    assert_totals_true(&p, cpu3, 0.1);
    assert_level1_is_whole(&p);
    assert_int_equal(p.n_plans, 1);
    pipeline_stop(&p);
}

static void test_a_short_absence_of_a_cpu_is_not_made_up_for(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "3", 20, 23);
    start(&p);
    pipeline_run_until(&p, 40);
    size_t cpu3 = snapshot_scope_cpu(p.layout, 3);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_true(uncovered(&p, cpu3, UNCOVERED_OFFLINE) > 1.5 && uncovered(&p, cpu3, UNCOVERED_OFFLINE) < 5);
    assert_only_uncovered(&p, 0, UNCOVERED_OFFLINE);
    pipeline_stop(&p);
}

static void test_an_absence_between_two_readings_is_noticed_and_healed(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "0-7", 20, 20.01); // no group is read in between
    start(&p);
    pipeline_run_until(&p, 30);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_only_uncovered(&p, 0, UNCOVERED_OFFLINE);
    assert_int_equal(p.recorder.n_open, p.topology->n_cpus * p.plan->n_groups);
    pipeline_stop(&p);
}

static void test_a_socket_vanishes_and_returns(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "4-7", 20, 50);
    start(&p);
    pipeline_run_until(&p, 30);
    assert_gauges_absent(&p, snapshot_scope_socket(1), ABSENT_OFFLINE);
    assert_gauges_true(&p, snapshot_scope_socket(0), 1e-6);
    assert_gauges_true(&p, 0, 1e-6);
    assert_true(p.snapshot->values[snapshot_offline(p.layout, 1)] == 4);
    double before = p.snapshot->values[snapshot_denominator(p.layout, 2, pipeline_metric(&p, "ipc"))];
    pipeline_run_until(&p, 40);
    assert_true(before == p.snapshot->values[snapshot_denominator(p.layout, 2, pipeline_metric(&p, "ipc"))]);
    pipeline_run_until(&p, 60);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_totals_true(&p, snapshot_scope_socket(0), 1e-6);
    assert_only_uncovered(&p, 0, UNCOVERED_OFFLINE);
    assert_near(uncovered(&p, snapshot_scope_socket(1), UNCOVERED_OFFLINE), 4 * 30, 0.11, "time offline");
    pipeline_stop(&p);
}

static void test_all_counters_are_taken_and_released(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_PINNED, 6, "0-7", 20, 60);
    start(&p);
    pipeline_run_until(&p, 40);
    assert_gauges_absent(&p, 0, ABSENT_STARVED);
    assert_int_equal(p.n_plans, 1); // nothing fits: no other plan would do better
    pipeline_run_until(&p, 80);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_only_uncovered(&p, 0, UNCOVERED_STARVED);
    assert_near(uncovered(&p, 0, UNCOVERED_STARVED), 8 * 40, 0.1, "starved");
    pipeline_stop(&p);
}

static bool is_plannable(const struct pipeline *p, const char *export_name) {
    return p->plan->metrics[pipeline_metric(p, export_name)].unit >= 0;
}

static void test_four_of_six_counters_are_taken_and_released(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_PINNED, 4, "0-7", 20, 60);
    start(&p);
    assert_int_equal(p.follow.counters, 6);
    assert_int_equal(p.plan->units[p.plan->level1_unit].n_groups, 1);
    pipeline_run_until(&p, 50);
    assert_int_equal(p.follow.counters, 2);
    assert_int_equal(p.n_plans, 2);
    assert_true(p.plan->units[p.plan->level1_unit].n_groups > 1); // a composite
    assert_true(is_plannable(&p, "branch_mpki"));
    assert_all_gauges_true(&p);
    pipeline_run_until(&p, 150);
    assert_int_equal(p.follow.counters, 6);
    assert_int_equal(p.n_plans, 3);
    assert_int_equal(p.plan->units[p.plan->level1_unit].n_groups, 1);
    pipeline_run(&p, 1);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_level1_is_whole(&p);
    pipeline_stop(&p);
}

static void test_with_one_counter_left_level1_is_absent_with_the_reason(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_PINNED, 5, "0-7", 20, 60);
    start(&p);
    pipeline_run_until(&p, 50);
    assert_int_equal(p.follow.counters, 1);
    assert_int_equal(p.plan->level1_unit, -1);
    assert_true(is_plannable(&p, "ipc") && !is_plannable(&p, "frontend_bound_ratio"));
    assert_non_null(strstr(p.plan->metrics[pipeline_metric(&p, "frontend_bound_ratio")].reason, "this host has 1"));
    assert_all_gauges_true(&p); // of what is plannable; the rest is absent
    double slots = p.snapshot->values[snapshot_pipeline_slots(p.layout, 0)];
    pipeline_run(&p, 3);
    assert_true(p.snapshot->values[snapshot_pipeline_slots(p.layout, 0)] == slots); // stands still
    assert_true(uncovered(&p, 0, UNCOVERED_NOT_PLANNABLE) > 0);
    pipeline_run_until(&p, 150);
    pipeline_run(&p, 1);
    assert_int_equal(p.follow.counters, 6);
    assert_all_gauges_true(&p);
    assert_true(p.snapshot->values[snapshot_pipeline_slots(p.layout, 0)] > slots);
    assert_all_accounted(&p, 1e-9);
    assert_level1_is_whole(&p);
    pipeline_stop(&p);
}

static void test_two_of_six_counters_make_a_useful_plan_from_the_start(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct pipeline p;
        fault_load(&p);
        p.scenario->surplus = kind == 1;
        p.scenario->validates_nothing = kind == 2;
        if (kind == 3)
            p.scenario->general_counters = 2;
        else
            add_rival(&p, RIVAL_PINNED, 4, "0-7", 0, 0);
        start(&p);
        assert_int_equal(p.follow.counters, 2);
        pipeline_run_until(&p, 30);
        assert_int_equal(p.n_plans, 1);
        assert_true(p.plan->units[p.plan->level1_unit].n_groups > 1);
        assert_all_gauges_true(&p);
        assert_all_accounted(&p, 1e-9);
        pipeline_stop(&p);
    }
}

static void test_the_limit_of_open_files_is_hit_when_a_cpu_comes_back(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "3", 20, 30);
    add_rival(&p, RIVAL_REFUSE, 0, "3", 25, 40);
    start(&p);
    size_t cpu3 = snapshot_scope_cpu(p.layout, 3), n_failed;
    pipeline_run_until(&p, 80);
    assert_gauges_absent(&p, cpu3, ABSENT_FAILED);
    assert_int_equal(sampler_open_error(p.sampler, &n_failed), -EMFILE);
    assert_int_equal(n_failed, p.plan->n_groups);
    pipeline_run_until(&p, 100); // a minute after it was last tried
    assert_int_equal(sampler_open_error(p.sampler, &n_failed), 0);
    assert_all_gauges_true(&p);
    assert_all_accounted(&p, 1e-9);
    assert_true(uncovered(&p, cpu3, UNCOVERED_OFFLINE) > 4 && uncovered(&p, cpu3, UNCOVERED_FAILED) > 50);
    assert_totals_of_cpus_true(&p, 0, 3);
    assert_totals_of_cpus_true(&p, 4, 8);
    pipeline_stop(&p);
}

// Cycles stand for the time that was covered, and for no other.
static void assert_cycles_stand_for_covered_time(const struct pipeline *p) {
    double cycles = p->snapshot->values[snapshot_denominator(p->layout, 0, pipeline_metric(p, "ipc"))];
    assert_near(cycles, 2e9 * covered(p, 0), 1e-6, "cycles");
}

static void test_a_sampler_that_does_not_run_for_a_minute_leaves_a_gap(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    start(&p);
    pipeline_run_until(&p, 20);
    (void)pipeline_step(&p, 60 * SECOND_NS);
    pipeline_run(&p, 3);
    assert_near(uncovered(&p, 0, UNCOVERED_GAP), 8 * 60, 0.03, "gap");
    assert_only_uncovered(&p, 0, UNCOVERED_GAP);
    assert_cycles_stand_for_covered_time(&p);
    assert_all_accounted(&p, 1e-9);
    pipeline_stop(&p);
}

static void test_a_clock_that_jumps_ahead_leaves_a_gap(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    start(&p);
    pipeline_run_until(&p, 20);
    p.recorder.jumped_ns = 3600 * SECOND_NS; // the host's counters do not count in it
    (void)pipeline_step(&p, 3600 * SECOND_NS);
    pipeline_run(&p, 5);
    assert_near(uncovered(&p, 0, UNCOVERED_GAP), 8 * 3600, 0.001, "gap");
    assert_only_uncovered(&p, 0, UNCOVERED_GAP);
    assert_cycles_stand_for_covered_time(&p);
    assert_all_accounted(&p, 1e-9);
    assert_near(pipeline_gauge(&p, 0, "ipc"), 1.5, 1e-6, "ipc");
    pipeline_stop(&p);
}

static void test_counters_handed_over_are_all_free_and_that_time_is_uncovered(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    start(&p);
    pipeline_run_until(&p, 20);
    (void)pipeline_step(&p, 0); // in the middle of a round
    double cut_short = (double)(p.now_ns - p.snapshot->end_ns) * 1e-9;
    pipeline_yield(&p, 60);
    pipeline_run(&p, 2);
    assert_near(uncovered(&p, 0, UNCOVERED_YIELDED), 8 * (60 + cut_short), 1e-9, "handed over");
    assert_only_uncovered(&p, 0, UNCOVERED_YIELDED);
    assert_all_gauges_true(&p);
    assert_cycles_stand_for_covered_time(&p);
    assert_all_accounted(&p, 1e-9);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cpu_goes_offline_and_comes_back),
        cmocka_unit_test(test_a_short_absence_of_a_cpu_is_not_made_up_for),
        cmocka_unit_test(test_an_absence_between_two_readings_is_noticed_and_healed),
        cmocka_unit_test(test_a_socket_vanishes_and_returns),
        cmocka_unit_test(test_all_counters_are_taken_and_released),
        cmocka_unit_test(test_four_of_six_counters_are_taken_and_released),
        cmocka_unit_test(test_with_one_counter_left_level1_is_absent_with_the_reason),
        cmocka_unit_test(test_two_of_six_counters_make_a_useful_plan_from_the_start),
        cmocka_unit_test(test_the_limit_of_open_files_is_hit_when_a_cpu_comes_back),
        cmocka_unit_test(test_a_sampler_that_does_not_run_for_a_minute_leaves_a_gap),
        cmocka_unit_test(test_a_clock_that_jumps_ahead_leaves_a_gap),
        cmocka_unit_test(test_counters_handed_over_are_all_free_and_that_time_is_uncovered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
