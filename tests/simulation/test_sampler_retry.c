// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

#include "tests/build/build.h"

// The sampler's handling of event groups that failed to open or were lost, and of missed edges.

static const uint64_t SLOT_NS = SECOND_NS / 5;
static const char *const GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};

static size_t all_groups(const struct pipeline *p) { return p->topology->n_cpus * p->plan->n_groups; }

static double round_seconds(const struct pipeline *p) { return (double)p->plan->round_ns * 1e-9; }

// Away for 30 seconds, and for the first ten: tried again at the end of every round, not only once a minute.
static void test_a_cpu_that_is_gone_is_tried_again_at_the_end_of_every_round(void **state) {
    (void)state;
    static const double absences[][2] = {{0, 10}, {20, 50}, {20, 101}};
    for (size_t i = 0; i < 3; i++) {
        struct pipeline p;
        fault_load(&p);
        add_rival(&p, RIVAL_OFFLINE, 0, "3", absences[i][0], absences[i][1]);
        pipeline_start(&p, SLOT_NS, 1, GROUPS);
        pipeline_run_until(&p, absences[i][1] - 0.1);
        assert_int_equal(p.recorder.n_open, all_groups(&p) - p.plan->n_groups); // nothing of it stays open
        pipeline_run_until(&p, absences[i][1] + round_seconds(&p) + 0.1);
        assert_int_equal(p.recorder.n_open, all_groups(&p));
        pipeline_run(&p, 2);
        assert_all_gauges_true(&p);
        pipeline_stop(&p);
    }
}

static void test_a_cpu_that_comes_and_goes_leaves_nothing_open(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    struct scenario_rival *rival = add_rival(&p, RIVAL_OFFLINE, 0, "2-3", 5, 0);
    rival->period_seconds = 7;
    rival->on_seconds = 3;
    pipeline_start(&p, SLOT_NS, 1, GROUPS);
    for (int minute = 1; minute <= 10; minute++) {
        pipeline_run_until(&p, minute * 60);
        assert_true(p.recorder.n_open <= all_groups(&p));
    }
    pipeline_stop(&p); // which checks that all is closed
}

// The host with a catalog of one metric of one event.
static void load_one_event(struct pipeline *p) {
    struct fault fault;
    fault_load(p);
    struct scenario_keyframe *keyframe = &p->scenario->loads[0].keyframes[0];
    while (keyframe->n_rates > 1)
        free(keyframe->rates[--keyframe->n_rates].event);
    assert_string_equal(keyframe->rates[0].event, "CPU_CYCLES");
    struct catalog_builder *builder = builder_for("pmu");
    assert_int_equal(catalog_builder_add_event(builder, "CPU_CYCLES", "", 0x11, &fault), 1);
    metric_of(builder, "clock", "CPU_CYCLES / cpu_seconds", NULL);
    group_of(builder, "Clock", "clock");
    catalog_free(p->catalog);
    p->catalog = catalog_builder_finish(builder);
}

// A dissolved group of one event still reads in full, and can be enabled.
static void test_a_group_of_one_event_counts_again_when_its_cpu_is_back(void **state) {
    (void)state;
    struct pipeline p;
    load_one_event(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "3,5", 20.1, 50);
    pipeline_start(&p, SLOT_NS, 1, NULL);
    assert_true(p.plan->n_groups == 1 && p.plan->groups[0].n_events == 1);
    pipeline_run_until(&p, 49.9);
    assert_int_equal(p.recorder.n_open, 6);
    assert_true(p.snapshot->values[snapshot_offline(p.layout, 0)] + p.snapshot->values[snapshot_offline(p.layout, 1)] ==
                2);
    pipeline_run_until(&p, 50 + round_seconds(&p) + 0.1);
    assert_int_equal(p.recorder.n_open, 8);
    pipeline_run(&p, 2);
    assert_all_gauges_true(&p);
    assert_near(pipeline_uncovered(&p, UNCOVERED_OFFLINE), 60, 0.1, "time offline");
    pipeline_stop(&p);
}

// All CPUs but one go offline and come back between two steps of the daemon, which is frozen meanwhile.
static void test_a_suspend_costs_two_rounds_at_most(void **state) {
    (void)state;
    for (int one_event = 0; one_event < 2; one_event++) {
        struct pipeline p;
        if (one_event)
            load_one_event(&p);
        else
            fault_load(&p);
        add_rival(&p, RIVAL_OFFLINE, 0, "1-7", 20.1, 20.101);
        pipeline_start(&p, SLOT_NS, 1, one_event ? NULL : GROUPS);
        pipeline_run_until(&p, 20.1 + 2 * round_seconds(&p) + 0.1);
        assert_int_equal(p.recorder.n_open, all_groups(&p));
        pipeline_run(&p, 2);
        assert_all_gauges_true(&p);
        assert_true(pipeline_uncovered(&p, UNCOVERED_OFFLINE) <= 2 * 7 * round_seconds(&p));
        assert_all_accounted(&p, 1e-9);
        pipeline_stop(&p);
    }
}

// Refused, with an error that is no CPU's: a minute later, and every minute from then on.
static void test_what_cannot_be_opened_is_tried_again_every_minute_and_not_before(void **state) {
    (void)state;
    static const double until[] = {30, 90, 150};
    for (size_t i = 0; i < 3; i++) {
        struct pipeline p;
        fault_load(&p);
        add_rival(&p, RIVAL_REFUSE, 0, "0-7", 0, until[i]);
        pipeline_start(&p, SLOT_NS, 1, GROUPS);
        double tried = 60 * (double)(i + 1); // the first time after it can be opened
        pipeline_run_until(&p, tried - 0.1);
        assert_int_equal(p.recorder.n_open, 0);
        pipeline_run_until(&p, tried + 3 * round_seconds(&p));
        assert_int_equal(p.recorder.n_open, all_groups(&p));
        pipeline_run(&p, 2);
        assert_all_gauges_true(&p);
        pipeline_stop(&p);
    }
}

// The idle pieces are a tenth of the round, here 0.6 s each and less than a quarter of a slot of 5 s: who comes later
// than it ends finds both of its edges due, and changes at both.
static void test_two_edges_that_are_due_are_both_changed_at(void **state) {
    (void)state;
    static const char *const groups[] = {"stage_1", "General", NULL};
    struct pipeline p;
    fault_load(&p);
    pipeline_start(&p, 5 * SECOND_NS, 1, groups);
    pipeline_run(&p, 1);
    uint64_t late_ns = p.plan->idle_ns + SECOND_NS / 50;
    assert_true(late_ns < p.plan->slot_ns / 4);
    size_t both = 0;
    for (int steps = 0; steps < 500; steps++) {
        size_t calls = p.recorder.n_calls;
        bool idle_passed = false;
        pipeline_step(&p, late_ns);
        assert_true(p.deadline_ns > p.now_ns);              // no edge is left behind
        for (size_t i = calls; i < p.recorder.n_calls; i++) // read in front of the idle piece, enabled behind it
            for (size_t j = i + 1; j < p.recorder.n_calls; j++)
                idle_passed =
                    idle_passed ||
                    (p.recorder.calls[i].kind == CALL_READ && p.recorder.calls[j].kind == CALL_ENABLE &&
                     p.recorder.cpu_of[p.recorder.calls[i].handle] == p.recorder.cpu_of[p.recorder.calls[j].handle]);
        both += idle_passed;
    }
    assert_true(both > 10);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cpu_that_is_gone_is_tried_again_at_the_end_of_every_round),
        cmocka_unit_test(test_a_cpu_that_comes_and_goes_leaves_nothing_open),
        cmocka_unit_test(test_a_group_of_one_event_counts_again_when_its_cpu_is_back),
        cmocka_unit_test(test_a_suspend_costs_two_rounds_at_most),
        cmocka_unit_test(test_what_cannot_be_opened_is_tried_again_every_minute_and_not_before),
        cmocka_unit_test(test_two_edges_that_are_due_are_both_changed_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
