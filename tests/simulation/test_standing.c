// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

// Events that need no counter count all the time, and exactly, whatever the daemon does and whenever it comes to read
// them.

static const char SOFTWARE[] = "tests/data/scenarios/steady-software.json";

// The true number of an event on all CPUs since the start of the first round.
static double truth_of(const struct pipeline *p, unsigned event, uint64_t until_ns) {
    double sum = 0;
    for (size_t cpu = 0; cpu < p->topology->n_cpus; cpu++)
        sum += pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id, event, p->start_ns, until_ns);
    return sum;
}

// Each count is a whole number on each CPU, so what is on its way to the next one is not there yet.
static void assert_exact(const struct pipeline *p) {
    for (size_t e = 0; e < p->layout->n_events; e++) {
        double total = p->snapshot->values[snapshot_event(p->layout, 0, e)];
        double truth = truth_of(p, p->layout->events[e], p->snapshot->end_ns);
        if (!(fabs(total - truth) <= (double)p->topology->n_cpus + 1e-9 * truth))
            fail_msg("%s is %.17g, should be %.17g", p->catalog->events[p->layout->events[e]].name, total, truth);
    }
}

static void start(struct pipeline *p) {
    pipeline_load(p, SOFTWARE);
    pipeline_start(p, SECOND_NS / 5, 1, NULL);
}

static void test_counts_are_exact_however_late_they_are_read(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    uint64_t random = 1;
    for (int steps = 0; steps < 500; steps++) {
        (void)pipeline_step(&p, random_below(&random, SECOND_NS / 2));
        if (p.snapshot)
            assert_exact(&p);
    }
    assert_all_accounted(&p, 1e-9);
    assert_true(pipeline_uncovered(&p, UNCOVERED_GAP) == 0);
    pipeline_stop(&p);
}

static void test_the_time_for_which_the_daemon_stood_still_is_covered(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    pipeline_run(&p, 3);
    while (!pipeline_step(&p, 100 * SECOND_NS))
        ;
    assert_exact(&p);
    assert_true(pipeline_uncovered(&p, UNCOVERED_GAP) == 0);
    assert_all_accounted(&p, 1e-9);
    pipeline_stop(&p);
}

static void test_one_read_a_cpu_and_snapshot_and_no_other_call(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    pipeline_run(&p, 2);
    size_t begin = p.recorder.n_calls;
    pipeline_run(&p, 10);
    assert_int_equal(p.recorder.n_calls - begin, 10 * p.topology->n_cpus);
    for (size_t i = begin; i < p.recorder.n_calls; i++)
        assert_int_equal(p.recorder.calls[i].kind, CALL_READ);
    assert_near((double)(p.snapshot->end_ns - p.start_ns) * 1e-9, 12 * 2, 1e-6, "twelve rounds of two seconds");
    pipeline_stop(&p);
}

// On the host, its sockets and each CPU, from the first snapshot on: a count that missed nothing has no error.
static void assert_certain(const struct pipeline *p, size_t metric) {
    const struct snapshot_layout *layout = p->layout;
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        const double *values = p->snapshot->values;
        double value = values[snapshot_metric(layout, scope, metric)];
        assert_near(value, 2000, 1e-3, "context switches");
        assert_near(values[snapshot_share_of_time(layout, scope, metric)], 1, 1e-12, "share of time");
        assert_true(values[snapshot_standard_error(layout, scope, metric)] == 0);
        assert_true(values[snapshot_low(layout, scope, metric)] == value);
        assert_true(values[snapshot_high(layout, scope, metric)] == value);
        assert_int_equal(snapshot_quality(p->snapshot, snapshot_state(layout, scope, metric)), ESTIMATE_GOOD);
    }
}

static void test_gauges_are_as_certain_as_a_count_that_missed_nothing(void **state) {
    (void)state;
    struct pipeline p;
    start(&p);
    for (int round = 0; round < 5; round++) {
        pipeline_run(&p, 1);
        assert_certain(&p, pipeline_metric(&p, "context_switches_per_second"));
    }
    pipeline_stop(&p);
}

// The time of a CPU that is away is uncovered; the others stay exact, and it is measured again when it is back.
static void test_a_cpu_that_goes_and_comes_back_is_counted_again(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load(&p, SOFTWARE);
    struct scenario_rival *away = pipeline_add_rival(&p, RIVAL_OFFLINE, 0);
    away->cpus = (struct cpuset){0};
    cpuset_add(&away->cpus, 3);
    away->from_seconds = 9;
    away->until_seconds = 21;
    pipeline_start(&p, SECOND_NS / 5, 1, NULL);
    pipeline_run_until(&p, 20);
    assert_int_equal(p.recorder.n_open, p.topology->n_cpus - 1);
    pipeline_run_until(&p, 60);
    assert_int_equal(p.recorder.n_open, p.topology->n_cpus);
    assert_all_accounted(&p, 1e-9);
    double offline = pipeline_uncovered(&p, UNCOVERED_OFFLINE);
    assert_true(offline >= 12 && offline <= 12 + 3 * 2);
    pipeline_stop(&p);
}

// Beside groups that rotate: on this CPU's spec, simulated, the events of its L3 take none of the core's counters.
static void test_beside_groups_that_rotate_each_keeps_to_itself(void **state) {
    (void)state;
    struct pipeline p;
    pipeline_load_spec(&p, "zen4", 1);
    pipeline_start(&p, SECOND_NS / 10, 1, NULL);
    size_t rotating = plan_n_rotating(p.plan);
    assert_true(rotating > 3 && p.plan->n_groups == rotating + 1);
    while (!pipeline_step(&p, 0))
        ;
    for (int round = 0; round < 5; round++) {
        pipeline_run(&p, 1);
        const struct plan_group *group = &p.plan->groups[rotating];
        for (size_t e = 0; e < p.layout->n_events; e++)
            for (size_t i = 0; i < group->n_events; i++)
                if (group->events[i] == p.layout->events[e])
                    assert_near(p.snapshot->values[snapshot_event(p.layout, 0, e)],
                                truth_of(&p, group->events[i], p.snapshot->end_ns), 1e-8, "an event that stands");
        assert_all_accounted(&p, 1e-9);
    }
    pipeline_stop(&p);
}

// ---- as the daemon does it ----

static size_t calls_of(const struct measuring *m, enum call_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < m->recorder.n_calls; i++)
        n += m->recorder.calls[i].kind == kind;
    return n;
}

static double total_of(const struct measuring *m, const char *name) {
    const struct snapshot_layout *layout = m->snapshot->layout;
    for (size_t e = 0; e < layout->n_events; e++)
        if (strcmp(layout->catalog->events[layout->events[e]].name, name) == 0)
            return m->snapshot->values[snapshot_event(layout, 0, e)];
    return NAN;
}

static void test_another_plan_takes_over_what_counts(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, SOFTWARE, "slot: 200ms\n");
    measuring_start(&m);
    measuring_run_until(&m, 10.5);
    m.recorder.n_calls = 0;
    assert_int_equal(measure_change_plan((struct measure *)m.engine, &m.errors), 0);
    measuring_run_until(&m, 25.5);
    assert_int_equal(m.n_plans, 2);
    assert_int_equal(calls_of(&m, CALL_READ), m.recorder.n_calls); // nothing was stopped, closed or opened
    double seconds = (double)(m.snapshot->end_ns - EPOCH_NS) * 1e-9;
    assert_near(total_of(&m, "CONTEXT_SWITCHES"), 8 * 2000 * seconds, 1e-3, "context switches");
    measuring_stop(&m);
}

static void test_yielding_closes_it_too_and_counts_nothing_meanwhile(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, SOFTWARE, "slot: 200ms\n");
    measuring_start(&m);
    measuring_run_until(&m, 20);
    double before = total_of(&m, "CONTEXT_SWITCHES");
    assert_int_equal(measuring_yield(&m, 30), 0);
    m.deadline_ns = m.now_ns;
    measuring_run_until(&m, 25);
    assert_int_equal(m.recorder.n_open, 0);
    measuring_run_until(&m, 45);
    assert_true(total_of(&m, "CONTEXT_SWITCHES") == before);
    measuring_run_until(&m, 80);
    assert_near(total_of(&m, "CONTEXT_SWITCHES") - before, 8 * 2000 * 30, 0.15, "context switches");
    measuring_stop(&m);
}

// As if they were boxes: the budget makes the interval between two readings longer, and back, and no count is lost.
static void test_boxes_that_cost_too_much_are_read_more_rarely_and_count_on(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, SOFTWARE, "interval: 1s\n");
    m.setup.types[0].topology->boxes = true;
    m.step_cost_ns = 1000000; // and as much of interrupts: twice the budget
    measuring_start(&m);
    measuring_run_until(&m, 200);
    assert_int_equal(measuring_said(&m, "read every 2 s from now on, and counted meanwhile"), 1);
    assert_int_equal(measuring_said(&m, "read every 4 s"), 1);
    double interval = (double)measuring_plan(&m)->round_ns * 1e-9;
    assert_true(interval >= 4 && interval <= 8);
    m.recorder.n_calls = 0;
    measuring_run_until(&m, 240);
    assert_near((double)calls_of(&m, CALL_READ), 8 * 40 / interval, 0.15, "reads");
    assert_int_equal(calls_of(&m, CALL_READ), m.recorder.n_calls); // nothing was stopped, closed or opened
    double seconds = (double)(m.snapshot->end_ns - EPOCH_NS) * 1e-9;
    assert_near(total_of(&m, "CONTEXT_SWITCHES"), 8 * 2000 * seconds, 1e-3, "context switches");
    m.step_cost_ns = 1000;
    measuring_run_until(&m, 500);
    assert_int_equal(measuring_said(&m, "read every 1 s"), 1);
    assert_true(measuring_plan(&m)->round_ns == SECOND_NS);
    seconds = (double)(m.snapshot->end_ns - EPOCH_NS) * 1e-9;
    assert_near(total_of(&m, "CONTEXT_SWITCHES"), 8 * 2000 * seconds, 1e-3, "context switches");
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_exact_however_late_they_are_read),
        cmocka_unit_test(test_the_time_for_which_the_daemon_stood_still_is_covered),
        cmocka_unit_test(test_one_read_a_cpu_and_snapshot_and_no_other_call),
        cmocka_unit_test(test_gauges_are_as_certain_as_a_count_that_missed_nothing),
        cmocka_unit_test(test_a_cpu_that_goes_and_comes_back_is_counted_again),
        cmocka_unit_test(test_beside_groups_that_rotate_each_keeps_to_itself),
        cmocka_unit_test(test_another_plan_takes_over_what_counts),
        cmocka_unit_test(test_yielding_closes_it_too_and_counts_nothing_meanwhile),
        cmocka_unit_test(test_boxes_that_cost_too_much_are_read_more_rarely_and_count_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
