// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/pace.h"
#include "tests/simulation/measuring.h"

// How measuring lets go of what it opened: counters at once, file descriptors step by step.

static const char YAML[] = "profiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";

static void start(struct measuring *m) {
    measuring_load(m, "tests/data/scenarios/steady.json", YAML); // 8 CPUs, 6 general counters
    measuring_start(m);
}

static size_t groups_open(const struct measuring *m) { return measuring_plan(m)->n_groups * 8; }

// It measures again, and is right.
static void assert_measures(struct measuring *m) {
    size_t before = m->n_snapshots;
    measuring_run_until(m, measuring_seconds(m) + 20);
    assert_true(m->n_snapshots >= before + 2);
    assert_true(status_engine_series(&m->snapshot->engine, STATUS_PMU_UP) == 1);
    assert_int_equal(m->recorder.n_open, groups_open(m));
}

// The most events that were closed in one step since the recorder was emptied.
static size_t most_closed_in_a_step(const struct measuring *m) {
    size_t most = 0, events = 0;
    for (size_t i = 0; i < m->recorder.n_calls; i++) {
        const struct call *call = &m->recorder.calls[i];
        if (i > 0 && call->at_ns != call[-1].at_ns)
            events = 0;
        if (call->kind == CALL_CLOSE)
            events += call->n_events;
        most = events > most ? events : most;
    }
    assert_true(m->recorder.n_calls < CALLS_MAX);
    return most;
}

static size_t calls_of(const struct measuring *m, enum call_kind kind) {
    size_t n = 0;
    for (size_t i = 0; i < m->recorder.n_calls; i++)
        n += m->recorder.calls[i].kind == kind;
    return n;
}

// The client's answer waits for one call on each CPU. What was open is closed in the milliseconds that follow.
static void test_counters_are_handed_over_by_a_stop_on_each_cpu_and_groups_are_closed_step_by_step(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_run_until(&m, 20);
    size_t open = m.recorder.n_open, held = measuring_held(&m);
    assert_true(open == groups_open(&m) && held > 0 && held <= 8);
    m.recorder.n_calls = 0;
    assert_int_equal(m.engine->ops->yield(m.engine, m.now_ns, 30), 0);
    assert_int_equal(calls_of(&m, CALL_DISABLE), held);
    assert_int_equal(m.recorder.n_calls, held + calls_of(&m, CALL_READ)); // of what is stopped: it interrupts nobody
    assert_int_equal(measuring_held(&m), 0);
    m.deadline_ns = m.now_ns;
    size_t shown = m.n_snapshots, steps = 0;
    assert_true(m.snapshot->engine.pmu.kernel_bytes ==
                (double)(plan_n_opened(measuring_plan(&m)) * 8 * PMU_EVENT_KERNEL_BYTES));
    for (; m.recorder.n_open > 0; steps++)
        measuring_step(&m);
    assert_true(steps >= 4);
    assert_near(measuring_seconds(&m), 20, 0.02 * (double)steps, "a millisecond a step");
    assert_true(most_closed_in_a_step(&m) <= PACE_EVENTS);
    assert_int_equal(calls_of(&m, CALL_CLOSE), open);
    assert_int_equal(m.n_snapshots, shown + 1); // closing shows nothing of its own
    measuring_run_until(&m, 25);
    assert_true(m.snapshot->engine.pmu.kernel_bytes == 0);
    measuring_stop(&m);
}

// Event groups that count all the time are stopped like others, and each call is charged: the stops and the closing.
static void test_closing_what_counts_all_the_time_is_charged(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady-software.json", "");
    measuring_start(&m);
    measuring_run_until(&m, 20);
    uint64_t charged = m.self.status.cost.calls, interrupts = m.self.status.cost.interrupts, calls = 0;
    size_t open = m.recorder.n_open;
    assert_int_equal(open, 8);
    m.recorder.n_calls = 0;
    assert_int_equal(m.engine->ops->yield(m.engine, m.now_ns, 30), 0);
    assert_int_equal(calls_of(&m, CALL_DISABLE), open);
    m.deadline_ns = m.now_ns;
    while (m.recorder.n_open > 0)
        measuring_step(&m);
    assert_int_equal(calls_of(&m, CALL_CLOSE), open);
    assert_true(most_closed_in_a_step(&m) <= PACE_EVENTS);
    for (size_t i = 0; i < m.recorder.n_calls; i++)
        calls += m.recorder.calls[i].kind == CALL_CLOSE ? m.recorder.calls[i].n_events : 1;
    assert_true(calls > open && m.self.status.cost.calls - charged == calls &&
                m.self.status.cost.interrupts - interrupts == calls);
    measuring_stop(&m);
}

// Counters taken back before all is closed: the new groups wait for the old ones to go.
static void test_no_plan_is_opened_while_the_last_one_is_being_closed(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_run_until(&m, 20);
    assert_int_equal(measuring_yield(&m, 30), 0);
    m.recorder.n_calls = 0;
    assert_int_equal(measuring_yield(&m, 0), 0);
    while (calls_of(&m, CALL_OPEN) == 0) {
        assert_true(m.recorder.n_open > 0);
        measuring_step(&m);
    }
    size_t first = 0;
    while (m.recorder.calls[first].kind != CALL_OPEN)
        first++;
    for (size_t i = first; i < m.recorder.n_calls; i++)
        assert_int_not_equal(m.recorder.calls[i].kind, CALL_CLOSE);
    assert_measures(&m);
    measuring_stop(&m);
}

static void assert_ipc(const struct measuring *m) {
    const struct snapshot_layout *layout = m->snapshot->layout;
    for (size_t i = 0; i < layout->n_metrics; i++)
        if (strcmp(layout->catalog->metrics[layout->plan->metrics[i].metric].export_name, "ipc") == 0)
            assert_near(m->snapshot->values[snapshot_metric(layout, 0, i)], 1.5, 1e-6, "ipc");
}

// Slots of another length are another plan of the same event groups: these go on counting.
static void test_a_change_of_slots_opens_and_closes_nothing(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_run_until(&m, 20);
    size_t open = m.recorder.n_open;
    double covered = m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)];
    m.self.budget.factor = 1.5;
    m.recorder.n_calls = 0;
    measuring_run_until(&m, 30);
    assert_int_equal(m.n_plans, 2);
    assert_true(measuring_plan(&m)->slot_ns == 300000000);
    assert_int_equal(m.recorder.n_open, open);
    assert_int_equal(calls_of(&m, CALL_CLOSE) + calls_of(&m, CALL_OPEN), 0);
    assert_measures(&m);
    assert_ipc(&m);
    double covers = m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)] - covered;
    assert_near(covers, 8 * (measuring_seconds(&m) - 20), 8 * 3.5, "covered since");
    measuring_stop(&m);
}

// Fewer counters make other event groups. What both plans have stays open, the rest is closed in small steps.
static void test_a_change_of_plan_closes_step_by_step(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady.json", YAML);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 20, 0);
    measuring_start(&m);
    measuring_run_until(&m, 19);
    m.recorder.n_calls = 0;
    measuring_run_until(&m, 40);
    assert_int_equal(measuring_plan(&m)->general_counters, 2);
    assert_true(calls_of(&m, CALL_CLOSE) > 8 * 3 && calls_of(&m, CALL_OPEN) > 8 * 3);
    assert_true(most_closed_in_a_step(&m) <= PACE_EVENTS);
    assert_measures(&m);
    assert_ipc(&m);
    measuring_stop(&m);
}

// The event groups of the plan stay open while counters are looked for, and hold none.
static void test_a_probe_that_finds_nothing_new_closes_only_what_it_opened(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady.json", YAML);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 0, 0);
    measuring_start(&m);
    measuring_reach(&m, MEASURE_LOOKING);
    bool of_plan[HANDLES_MAX];
    memcpy(of_plan, m.recorder.open, sizeof of_plan);
    measuring_reach(&m, MEASURE_PROBING);
    while (measuring_state(&m) == MEASURE_PROBING) {
        for (size_t i = 0; i < HANDLES_MAX; i++)
            assert_true(!of_plan[i] || (m.recorder.open[i] && !m.recorder.enabled[i]));
        measuring_step(&m);
    }
    measuring_run_until(&m, measuring_seconds(&m) + 5);
    assert_memory_equal(m.recorder.open, of_plan, sizeof of_plan);
    assert_measures(&m);
    assert_ipc(&m);
    assert_int_equal(m.n_plans, 1);
    measuring_stop(&m);
}

// Counters are missing for ever, and the test has them looked for every ten seconds. Each step of a probe costs 10 ms
// and interrupts as much again: more than the budget of that time, 10 ms.
static void test_probes_that_cost_more_than_the_budget_get_rarer_and_slots_no_longer(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady.json", YAML);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 0, 0);
    measuring_start(&m);
    measuring_run_until(&m, 120);
    size_t cheap = m.n_probes;
    assert_int_equal(cheap, 4); // after 10, 20, 40 and 80 seconds
    while (measuring_seconds(&m) < 1320) {
        ((struct measure *)m.engine)->follow.probe.wait_ns = 0;
        m.step_cost_ns = measuring_state(&m) == MEASURE_PROBING ? 10000000 : 0;
        measuring_step(&m);
    }
    double seconds = m.self.status.cost.collection_seconds + m.self.status.cost.interrupt_seconds;
    assert_true(m.n_probes - cheap >= 8 && m.n_probes - cheap <= 61); // in 20 minutes, at least 20 s apart
    assert_true(seconds > 0.8);
    assert_true(measuring_plan(&m)->slot_ns == 200000000);
    assert_int_equal(measuring_said(&m, "of its budget"), 0);
    measuring_stop(&m);
}

// The adaptive schedule decides, and its plan waits until what the last changes have cost is paid.
static void test_another_plan_waits_until_the_last_one_is_paid(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/bottleneck.json",
                   "mode: adaptive\nprofiles: {default: {groups: [stage_1, Branch_Effectiveness, ITLB_Effectiveness, "
                   "L1D_Cache_Effectiveness, L2_Cache_Effectiveness, General]}}\n");
    measuring_start(&m);
    measuring_run_until(&m, 119);
    m.self.status.cost.collection_seconds += 0.4; // of a change: it is paid in 400 s at the most
    m.self.change_seconds += 0.4;
    measuring_run_until(&m, 400);
    assert_int_equal(m.n_plans, 1);
    measuring_run_until(&m, 600);
    assert_true(m.n_plans > 1);
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_are_handed_over_by_a_stop_on_each_cpu_and_groups_are_closed_step_by_step),
        cmocka_unit_test(test_closing_what_counts_all_the_time_is_charged),
        cmocka_unit_test(test_no_plan_is_opened_while_the_last_one_is_being_closed),
        cmocka_unit_test(test_a_change_of_slots_opens_and_closes_nothing),
        cmocka_unit_test(test_a_change_of_plan_closes_step_by_step),
        cmocka_unit_test(test_a_probe_that_finds_nothing_new_closes_only_what_it_opened),
        cmocka_unit_test(test_probes_that_cost_more_than_the_budget_get_rarer_and_slots_no_longer),
        cmocka_unit_test(test_another_plan_waits_until_the_last_one_is_paid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
