// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

// Each transition of measuring (daemon/engine/measure_table.h), on the daemon's own code in virtual time.

static const char STEADY[] = "tests/data/scenarios/steady.json"; // 8 CPUs, 6 general counters
static const char YAML[] = "profiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";

static void load(struct measuring *m) { measuring_load(m, STEADY, YAML); }

static void start(struct measuring *m) {
    load(m);
    measuring_start(m);
}

static size_t groups_open(const struct measuring *m) { return measuring_plan(m)->n_groups * 8; }

static double metric(const struct measuring *m, const char *name) {
    const struct snapshot_layout *layout = m->snapshot->layout;
    for (size_t i = 0; i < layout->n_metrics; i++)
        if (strcmp(layout->catalog->metrics[layout->plan->metrics[i].metric].export_name, name) == 0)
            return m->snapshot->values[snapshot_metric(layout, 0, i)];
    fail();
    return NAN;
}

static void assert_measures(struct measuring *m) {
    size_t before = m->n_snapshots;
    measuring_reach(m, MEASURE_LOOKING);
    measuring_step(m);
    measuring_reach(m, MEASURE_LOOKING);
    assert_true(m->n_snapshots >= before + 2);
    assert_near(metric(m, "ipc"), 1.5, 1e-6, "ipc");
    assert_true(status_engine_series(&m->snapshot->engine, STATUS_PMU_UP) == 1);
}

// ---- the table ----

static void test_the_table_says_for_each_pair_what_follows_or_that_it_cannot_happen(void **state) {
    (void)state;
    // due, yield, take back, reload, answer, round over, yield over, bottleneck, counters, tried, dead, budget, CPUs,
    // settled
    static const char *const rows[MEASURE_STATE_N] = {[MEASURE_FINDING] = "FFF-M---------",
                                                      [MEASURE_MEASURING] = "MYMM-L--------",
                                                      [MEASURE_LOOKING] = "LYLM---LPLLLLM",
                                                      [MEASURE_PROBING] = "PYP-M---------",
                                                      [MEASURE_YIELDED] = "YYYY--M-------"};
    static const char letters[] = "FMLPY";
    for (unsigned s = 0; s < MEASURE_STATE_N; s++) {
        assert_int_equal(strlen(rows[s]), MEASURE_HAPPENING_N - 1);
        for (unsigned h = MEASURE_DUE; h < MEASURE_HAPPENING_N; h++) {
            struct measure_rule rule = measure_rule((enum measure_state)s, (enum measure_happening)h);
            char wanted = rows[s][h - 1];
            if (wanted == '-')
                assert_int_equal(rule.action, MEASURE_NEVER);
            else if (rule.action == MEASURE_NEVER || letters[rule.next] != wanted)
                fail_msg("state %u, happening %u: action %u, then %c", s, h, rule.action, letters[rule.next]);
        }
        assert_int_equal(measure_rule((enum measure_state)s, MEASURE_NOTHING).action, MEASURE_NEVER);
    }
}

// Ways into each state.
static void reach(struct measuring *m, enum measure_state state) {
    load(m);
    if (state == MEASURE_PROBING) // four counters are taken, so that they are looked for every minute
        measuring_add_rival(m, RIVAL_PINNED, 4, "0-7", 0, 0);
    measuring_start(m);
    measuring_run_until(m, state == MEASURE_FINDING ? 0 : state == MEASURE_PROBING ? 59 : 20);
    if (state == MEASURE_YIELDED)
        assert_int_equal(measuring_yield(m, 20), 0);
    measuring_reach(m, state);
}

static void test_what_comes_from_outside_is_done_as_the_table_says_in_every_state(void **state) {
    (void)state;
    for (unsigned s = 0; s < MEASURE_STATE_N; s++) {
        for (unsigned h = MEASURE_DUE; h <= MEASURE_TAKE_BACK; h++) {
            struct measuring m;
            reach(&m, (enum measure_state)s);
            size_t open = m.recorder.n_open;
            struct measure_rule rule = measure_rule((enum measure_state)s, (enum measure_happening)h);
            int r = 0;
            if (h == MEASURE_DUE)
                measuring_step(&m);
            else
                r = m.engine->ops->yield(m.engine, m.now_ns, h == MEASURE_YIELD ? 5 : 0);
            assert_int_equal(r, rule.action == MEASURE_REFUSE ? -EAGAIN : 0);
            if (h != MEASURE_DUE)
                assert_int_equal(measuring_state(&m), rule.next);
            if (rule.action == MEASURE_IGNORE || rule.action == MEASURE_REFUSE)
                assert_int_equal(m.recorder.n_open, open);
            if (rule.action == MEASURE_HAND_OVER)
                assert_int_equal(measuring_held(&m), 0);
            measuring_reach(&m, MEASURE_LOOKING); // and it goes on
            measuring_stop(&m);
        }
    }
}

// ---- finding ----

static void test_counters_are_found_before_there_is_a_plan_and_then_it_measures(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    assert_int_equal(measuring_state(&m), MEASURE_FINDING);
    assert_int_equal(measuring_yield(&m, 5), -EAGAIN); // refused, and no harm done
    measuring_reach(&m, MEASURE_MEASURING);
    assert_true(measuring_seconds(&m) < 0.2);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_true(m.recorder.n_open > 0); // opened in the step that made the plan
    assert_measures(&m);
    assert_int_equal(m.n_plans, 1);
    measuring_stop(&m);
}

static void test_a_host_whose_events_take_no_counters_measures_at_once(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady-software.json", "slot: 1s\n");
    measuring_start(&m);
    assert_int_equal(measuring_state(&m), MEASURE_MEASURING);
    measuring_reach(&m, MEASURE_LOOKING);
    measuring_stop(&m);
}

static void test_a_pmu_that_cannot_be_had_is_the_answer_of_making(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    m.pmu_error = -ENOMEM;
    assert_int_equal(measuring_new(&m), -ENOMEM);
    m.pmu_error = 0;
    m.engine = NULL;
    measuring_stop(&m);
}

// The kernel refuses every open at the start: the plan is the spec's, the trouble is told once, and every minute it is
// tried again.
static void test_a_pmu_that_refuses_is_told_of_and_tried_again_every_minute(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_REFUSE, 0, "0-7", 0, 130);
    measuring_start(&m);
    measuring_run_until(&m, 129);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_int_equal(m.recorder.n_open, 0);
    assert_true(status_engine_series(&m.snapshot->engine, STATUS_PMU_UP) == 0);
    assert_int_equal(measuring_said(&m, "could not be opened (Too many open files)"), 1);
    assert_int_equal(m.engine->ops->view(m.engine)->n_pmu_errors, 1);
    measuring_run_until(&m, 195);
    assert_int_equal(m.recorder.n_open, groups_open(&m));
    assert_int_equal(measuring_said(&m, "event groups can be opened again"), 1);
    assert_int_equal(m.engine->ops->view(m.engine)->n_pmu_errors, 0);
    assert_measures(&m);
    measuring_stop(&m);
}

static void test_counters_that_others_hold_at_the_start_are_waited_for(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_PINNED, 6, "0-7", 0, 95);
    measuring_start(&m);
    measuring_run_until(&m, 94);
    assert_int_equal(measuring_said(&m, "no counter can be had now"), 1);
    assert_int_equal(m.engine->ops->view(m.engine)->counters.usable, 0);
    assert_true(isnan(metric(&m, "ipc")));
    assert_int_equal(measuring_said(&m, "counters can be had again"), 0);
    measuring_run_until(&m, 110);
    assert_int_equal(measuring_said(&m, "counters can be had again"), 1);
    assert_true(m.engine->ops->view(m.engine)->counters.usable > 0);
    assert_measures(&m);
    measuring_stop(&m);
}

// What has never counted is blind from the first interval on, what has counted after three. The time of the last counts
// stands still, and both end with the next counts. Handing over the counters is no blindness.
static void test_it_is_blind_while_nothing_was_ever_counted(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_REFUSE, 0, "0-7", 0, 130);
    measuring_start(&m);
    double begun = 1e9 + (double)EPOCH_NS * 1e-9;
    while (!m.snapshot || m.snapshot->sequence == 0)
        measuring_step(&m);
    assert_true(m.snapshot->blind && m.snapshot->never_counted);
    measuring_run_until(&m, 60);
    assert_true(m.snapshot->blind && m.snapshot->never_counted);
    assert_true(m.snapshot->engine.counted_seconds == begun);
    assert_true(m.snapshot->taken_seconds > begun + 50);
    assert_int_equal(measuring_yield(&m, 30), 0);
    measuring_run_until(&m, 80);
    assert_false(m.snapshot->blind);
    assert_true(m.snapshot->engine.counted_seconds > begun + 70);
    measuring_run_until(&m, 129);
    assert_true(m.snapshot->blind);
    measuring_run_until(&m, 195);
    assert_false(m.snapshot->blind);
    assert_true(m.snapshot->engine.counted_seconds == m.snapshot->taken_seconds);
    measuring_stop(&m);
}

// A host without a PMU is to count software events: it is ready while it does, and blind while even these are refused.
// Where no metric group exists on this host, all that was configured is not counted.
static void test_who_has_no_pmu_is_blind_without_software_events_and_who_measures_nothing_never(void **state) {
    (void)state;
    static const char *const software = "tests/data/scenarios/steady-software.json";
    static const struct {
        const char *scenario, *yaml;
        bool refused, blind;
    } hosts[] = {
        {software, YAML, true, true},
        {software, YAML, false, false},
        {STEADY, "profile: off\nprofiles: {off: {groups: []}}\n", true, false},
        {STEADY, "profiles: {default: {groups: [PipelineL2]}}\n", false, true}, // of AMD's specs
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct measuring m;
        measuring_load(&m, hosts[i].scenario, hosts[i].yaml);
        if (hosts[i].refused)
            measuring_add_rival(&m, RIVAL_REFUSE, 0, "0-7", 0, 1000);
        measuring_start(&m);
        measuring_run_until(&m, 60);
        assert_true(m.snapshot->sequence > BLIND_INTERVALS);
        assert_int_equal(m.snapshot->blind, hosts[i].blind);
        double behind = m.snapshot->taken_seconds - m.snapshot->engine.counted_seconds;
        assert_true(hosts[i].blind ? behind > 50 : behind == 0);
        measuring_stop(&m);
    }
}

// Cycles need a general counter while the watchdog holds the fixed one. A plan that knows of it does not ask for them
// in the probe, so that they are held against it once; one that does not know finds a counter less.
static void test_the_counter_that_the_watchdog_holds_is_held_against_the_plan_once(void **state) {
    (void)state;
    for (int known = 0; known <= 1; known++) {
        struct measuring m;
        measuring_load(&m, "tests/data/scenarios/watchdog.json", "profiles: {default: {groups: [General]}}\n");
        m.setup.types[0].source->nmi_watchdog = known;
        measuring_start(&m);
        measuring_reach(&m, MEASURE_LOOKING);
        assert_int_equal(measuring_plan(&m)->general_counters, known ? 4 : 3);
        measuring_stop(&m);
    }
}

// The file says the same of the detector that holds the counter of cycles and of the buddy detector, which holds none:
// the probe tells.
static void test_a_probe_tells_whether_the_watchdog_holds_a_counter(void **state) {
    (void)state;
    for (int holds = 0; holds <= 1; holds++) {
        struct measuring m;
        measuring_load(&m, "tests/data/scenarios/watchdog.json", "profiles: {default: {groups: [General]}}\n");
        measuring_scenario(&m)->n_rivals = (size_t)holds;
        struct source *source = m.setup.types[0].source;
        m.watchdog_on = source->watchdog_on = source->nmi_watchdog = true;
        measuring_start(&m);
        measuring_reach(&m, MEASURE_LOOKING);
        assert_int_equal(source->nmi_watchdog, holds);
        assert_int_equal(measuring_plan(&m)->general_counters, 4);
        assert_int_equal(measuring_plan(&m)->pmu.fixed_taken != 0, holds);
        assert_int_equal(measuring_said(&m, "is on and holds no counter (the buddy detector)"), !holds);
        assert_string_equal(m.engine->ops->view(m.engine)->nmi_watchdog, holds ? "holds_a_counter" : "holds_none");
        measuring_stop(&m);
    }
}

static void test_a_watchdog_that_is_switched_while_topdownd_runs_is_noticed_within_two_minutes(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/watchdog.json", "profiles: {default: {groups: [General]}}\n");
    measuring_scenario(&m)->rivals[0].from_seconds = 100;
    measuring_scenario(&m)->rivals[0].until_seconds = 300;
    measuring_start(&m);
    measuring_run_until(&m, 99);
    assert_true(measuring_plan(&m)->pmu.fixed_taken == 0 && measuring_plan(&m)->general_counters == 4);
    m.watchdog_on = true;
    measuring_run_until(&m, 220);
    assert_true(measuring_plan(&m)->pmu.fixed_taken != 0 && measuring_plan(&m)->general_counters == 4);
    assert_int_equal(measuring_said(&m, "the kernel's NMI watchdog has been switched on"), 1);
    measuring_run_until(&m, 301);
    m.watchdog_on = false;
    measuring_run_until(&m, 420);
    assert_true(measuring_plan(&m)->pmu.fixed_taken == 0 && measuring_plan(&m)->general_counters == 4);
    assert_int_equal(measuring_said(&m, "the kernel's NMI watchdog has been switched off"), 1);
    assert_measures(&m);
    measuring_stop(&m);
}

// ---- measuring and looking ----

static void test_a_round_is_shown_and_what_changed_is_looked_at_in_the_next_step(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_reach(&m, MEASURE_LOOKING);
    assert_int_equal(m.n_snapshots, 1);
    assert_true(m.deadline_ns == m.now_ns); // at once
    assert_true(m.snapshot->taken_seconds == 1e9 + (double)m.now_ns * 1e-9);
    measuring_step(&m);
    assert_int_equal(measuring_state(&m), MEASURE_MEASURING); // nothing has changed
    assert_int_equal(m.n_plans, 1);
    measuring_stop(&m);
}

static void test_cpus_that_come_online_are_measured_from_then_on(void **state) {
    (void)state;
    struct measuring m;
    struct cpuset first;
    struct topology *all;
    load(&m);
    assert_int_equal(cpuset_parse("0-3", &first), 0);
    all = m.setup.types[0].topology;
    assert_int_equal(pmu_sim_topology(measuring_scenario(&m), &first, &m.setup.types[0].topology), 0);
    measuring_start(&m);
    measuring_run_until(&m, 30);
    size_t looks = m.n_looks;
    assert_true(looks >= 4 && looks <= 6); // every five seconds, at the end of a round
    assert_int_equal(m.recorder.n_open, measuring_plan(&m)->n_groups * 4);
    double before = m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)];
    m.arriving = all;
    measuring_run_until(&m, 40);
    assert_int_equal(measuring_said(&m, "8 CPUs are measured instead of 4: some have come online"), 1);
    assert_int_equal(m.recorder.n_open, measuring_plan(&m)->n_groups * 8);
    assert_int_equal(m.n_plans, 2);
    assert_true(m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)] > before); // totals go on
    assert_measures(&m);
    measuring_stop(&m);
}

static void test_cpus_that_become_isolated_are_let_go_and_measured_again_when_they_return(void **state) {
    (void)state;
    struct measuring m;
    struct cpuset others;
    load(&m);
    measuring_start(&m);
    measuring_run_until(&m, 20);
    struct snapshot *before = snapshot_ref(m.snapshot);
    assert_int_equal(cpuset_parse("0-1,3-5,7", &others), 0);
    assert_int_equal(pmu_sim_topology(measuring_scenario(&m), &others, &m.arriving), 0);
    m.arriving->sockets[0].isolated = m.arriving->sockets[0].excluded;
    m.arriving->sockets[1].isolated = m.arriving->sockets[1].excluded;
    measuring_run_until(&m, 28);
    assert_int_equal(measuring_said(&m, "6 CPUs are measured instead of 8: isolated CPUs are left alone (2,6)"), 1);
    assert_int_equal(m.recorder.n_open, measuring_plan(&m)->n_groups * 6); // their files are closed as well
    assert_true(m.snapshot->layout->topology->n_cpus == 6);
    assert_true(m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)] >
                before->values[snapshot_covered(before->layout, 0)]); // totals go on
    snapshot_unref(before);
    assert_measures(&m);
    assert_int_equal(pmu_sim_topology(measuring_scenario(&m), NULL, &m.arriving), 0);
    measuring_run_until(&m, 36);
    assert_int_equal(measuring_said(&m, "8 CPUs are measured instead of 6: some are no longer isolated (2,6)"), 1);
    assert_int_equal(m.recorder.n_open, measuring_plan(&m)->n_groups * 8);
    assert_measures(&m);
    measuring_stop(&m);
}

static void test_where_no_cpu_is_left_it_is_said_once_and_measured_on(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_reach(&m, MEASURE_LOOKING);
    m.looking_error = -EINVAL;
    measuring_run_until(&m, 30);
    assert_int_equal(measuring_said(&m, "all CPUs are isolated: those that were not are measured on"), 1);
    assert_measures(&m);
    measuring_stop(&m);
}

static void test_memory_that_is_short_while_cpus_are_looked_for_ends_the_daemon(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_reach(&m, MEASURE_LOOKING);
    m.looking_error = -ENOMEM;
    assert_int_equal(measuring_step_late(&m, 0), -ENOMEM);
    measuring_stop(&m);
}

// The budget is 1 ms a second on 8 CPUs, of which rotation has nine tenths. The steps' own cost is 0.55 of it; two of
// three calls interrupt a CPU, so that all together is 1.12 of it, and 0.8 with slots half as long again: as many idle
// pieces as before.
static void test_slots_grow_where_measuring_and_its_interrupts_cost_more_than_the_budget(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_run_until(&m, 29);
    double steps_a_second = (double)m.snapshot->status.rotations.n / measuring_seconds(&m);
    m.step_cost_ns = (uint64_t)(0.55e6 / steps_a_second);
    measuring_run_until(&m, 180);
    assert_near(m.snapshot->status.cost.budget_used, 0.8, 0.05, "of the budget");
    assert_int_equal(measuring_said(&m, "of its budget: a slot is 300 ms from now on"), 1);
    assert_true(measuring_plan(&m)->slot_ns == 300000000);
    assert_int_equal(m.n_plans, 2);
    m.step_cost_ns = 1000;
    measuring_run_until(&m, 270);
    assert_int_equal(measuring_said(&m, "of its budget: a slot is 200 ms from now on"), 1);
    assert_true(measuring_plan(&m)->slot_ns == 200000000);
    assert_int_equal(m.n_plans, 3);
    measuring_stop(&m);
}

// Software events count all the time, so slots cannot make them cheaper.
static void test_where_nothing_rotates_a_cost_above_the_budget_is_said_once(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/steady-software.json", "interval: 1s\n");
    measuring_start(&m);
    measuring_run_until(&m, 5);
    m.step_cost_ns = 3000000;
    measuring_run_until(&m, 200);
    assert_true(m.snapshot->status.cost.budget_used > 1);
    assert_int_equal(measuring_said(&m, "of its budget"), 1);
    assert_int_equal(measuring_said(&m, "of its budget: no event group rotates here, so only a longer interval"), 1);
    assert_int_equal(m.n_plans, 1);
    measuring_stop(&m);
}

static void test_the_schedule_follows_the_bottleneck_and_back(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/bottleneck.json",
                   "mode: adaptive\nprofiles: {default: {groups: [stage_1, Branch_Effectiveness, ITLB_Effectiveness, "
                   "L1D_Cache_Effectiveness, L2_Cache_Effectiveness, General]}}\n");
    measuring_start(&m);
    measuring_run_until(&m, 119);
    assert_int_equal(m.n_plans, 1);
    measuring_run_until(&m, 300);
    assert_int_equal(m.n_plans, 2);
    measuring_run_until(&m, 600);
    assert_int_equal(m.n_plans, 3);
    measuring_stop(&m);
}

// The load waits for data from 120 s to 420 s, and computes before and after.
static void test_the_log_says_once_what_a_lasting_verdict_is_and_what_comes_next(void **state) {
    (void)state;
    static const char bound[] = "what this host is bound by: ", next[] = "next, look at the metric group",
                      found[] = "; find the code with: perf record -a -g -F 199 -e ";
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/bottleneck.json", "profiles: {default: {groups: [stage_1, MPKI]}}\n");
    measuring_start(&m);
    measuring_run_until(&m, 55);
    assert_int_equal(measuring_said(&m, bound), 0); // it must last
    measuring_run_until(&m, 119);
    assert_int_equal(measuring_said(&m, bound), 1);
    size_t high = measuring_said(&m, next);
    measuring_forget(&m);
    measuring_run_until(&m, 175);
    assert_int_equal(measuring_said(&m, bound), 0);
    measuring_run_until(&m, 419);
    assert_int_equal(measuring_said(&m, bound), 1);
    assert_int_equal(measuring_said(&m, ": Back-end bound, "), 1); // after what was usual before
    assert_int_equal(measuring_said(&m, "L1D_Cache_Effectiveness (not measured)"), 1);
    assert_int_equal(measuring_said(&m, next), 1);
    assert_int_equal(measuring_said(&m, found), 1);
    measuring_forget(&m);
    measuring_run_until(&m, 900);
    assert_int_equal(measuring_said(&m, bound), 1);
    assert_int_equal(measuring_said(&m, next), high);
    measuring_stop(&m);
}

// Every group but level 1 would be raised: none gets more, and the log says so.
static void test_raising_all_is_said_to_give_none_more(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/bottleneck.json",
                   "mode: adaptive\nprofiles: {default: {groups: [stage_1, L1D_Cache_Effectiveness, "
                   "L2_Cache_Effectiveness]}}\n");
    measuring_start(&m);
    measuring_run_until(&m, 300);
    size_t raised = measuring_said(&m, " is raised: ");
    assert_true(raised >= 2);
    assert_int_equal(measuring_said(&m, "it gets no more slots, because all that can be raised is raised"), raised);
    measuring_stop(&m);
}

// ---- probing ----

static void test_counters_that_are_taken_are_missed_and_found_again(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 20, 200);
    measuring_start(&m);
    measuring_run_until(&m, 40);
    assert_int_equal(measuring_plan(&m)->general_counters, 2);
    assert_int_equal(measuring_said(&m, "2 general counters can be had instead of 6"), 1);
    measuring_run_until(&m, 199);
    assert_int_equal(measuring_plan(&m)->general_counters, 2);
    assert_true(m.n_probes == 5); // one found them missing; then after 10, 20, 40 and 80 seconds
    measuring_run_until(&m, 370);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_int_equal(measuring_said(&m, "6 general counters can be had instead of 2"), 1);
    assert_int_equal(m.n_plans, 3);
    assert_measures(&m);
    measuring_stop(&m);
}

static void test_all_counters_taken_are_said_once_and_cost_no_plan(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_PINNED, 6, "0-7", 20, 80);
    measuring_start(&m);
    measuring_run_until(&m, 79);
    assert_int_equal(measuring_said(&m, "others hold all counters"), 1);
    assert_true(m.n_probes == 3); // at once, after 10 seconds and after 20, and 40 are not over
    assert_int_equal(m.engine->ops->view(m.engine)->counters.usable, 0);
    measuring_run_until(&m, 100);
    assert_int_equal(measuring_said(&m, "counters can be had again"), 1);
    assert_int_equal(m.n_plans, 1);
    assert_measures(&m);
    measuring_stop(&m);
}

// A look that fails is no reason never to look again.
static void test_a_probe_that_cannot_open_anything_is_begun_again_later(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 0, 60); // found 2; looked for again after 10, 20, 40 and 80 seconds
    measuring_add_rival(&m, RIVAL_REFUSE, 0, "0-7", 65, 130);
    measuring_start(&m);
    measuring_run_until(&m, 99);
    assert_int_equal(measuring_plan(&m)->general_counters, 2);
    measuring_run_until(&m, 190);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_measures(&m);
    measuring_stop(&m);
}

// ---- handing over ----

static void test_counters_are_free_at_once_and_something_is_shown_every_second(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_run_until(&m, 20);
    double covered = m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)];
    assert_int_equal(measuring_yield(&m, 30), 0);
    assert_int_equal(measuring_held(&m), 0);
    assert_int_equal(m.snapshot->absent[0], ABSENT_YIELDED);
    assert_true(status_engine_series(&m.snapshot->engine, STATUS_PMU_UP) == 0);
    size_t shown = m.n_snapshots;
    double end = measuring_seconds(&m) + 30;
    measuring_run_until(&m, end - 0.1);
    assert_int_equal(m.n_snapshots, shown + 29);
    assert_int_equal(m.recorder.n_open, 0);
    measuring_step(&m);
    assert_near(measuring_seconds(&m), end, 1e-9, "to the end");
    assert_int_equal(measuring_state(&m), MEASURE_MEASURING);
    assert_int_equal(measuring_said(&m, "the counters are no longer handed over"), 1);
    assert_measures(&m);
    assert_int_equal(m.n_plans, 1);
    double yielded = m.snapshot->values[snapshot_uncovered(m.snapshot->layout, 0, UNCOVERED_YIELDED)];
    assert_near(yielded, 8 * 30, 0.06, "time handed over"); // and the round under way, which is given away
    assert_true(m.snapshot->values[snapshot_covered(m.snapshot->layout, 0)] > covered);
    measuring_stop(&m);
}

static void test_who_asks_again_gets_the_new_time_and_0_ends_it(void **state) {
    (void)state;
    struct measuring m;
    start(&m);
    measuring_run_until(&m, 20);
    assert_int_equal(measuring_yield(&m, 5), 0);
    measuring_run_until(&m, 23);
    assert_int_equal(measuring_yield(&m, 20), 0);
    measuring_run_until(&m, 40);
    assert_int_equal(measuring_state(&m), MEASURE_YIELDED);
    assert_int_equal(measuring_yield(&m, 0), 0);
    assert_int_equal(measuring_state(&m), MEASURE_MEASURING);
    assert_true(m.recorder.n_open > 0);
    assert_int_equal(measuring_yield(&m, 0), 0); // nothing to take back
    assert_measures(&m);
    measuring_stop(&m);
}

static void test_a_probe_that_is_interrupted_is_begun_again_when_it_is_missed(void **state) {
    (void)state;
    struct measuring m;
    load(&m);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 0, 60);
    measuring_start(&m);
    measuring_run_until(&m, 59);
    measuring_reach(&m, MEASURE_PROBING);
    assert_int_equal(measuring_yield(&m, 10), 0);
    assert_int_equal(measuring_held(&m), 0);
    measuring_run_until(&m, measuring_seconds(&m) + 1);
    assert_int_equal(m.recorder.n_open, 0);
    measuring_run_until(&m, 120);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_measures(&m);
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_says_for_each_pair_what_follows_or_that_it_cannot_happen),
        cmocka_unit_test(test_what_comes_from_outside_is_done_as_the_table_says_in_every_state),
        cmocka_unit_test(test_counters_are_found_before_there_is_a_plan_and_then_it_measures),
        cmocka_unit_test(test_a_host_whose_events_take_no_counters_measures_at_once),
        cmocka_unit_test(test_a_pmu_that_cannot_be_had_is_the_answer_of_making),
        cmocka_unit_test(test_a_pmu_that_refuses_is_told_of_and_tried_again_every_minute),
        cmocka_unit_test(test_counters_that_others_hold_at_the_start_are_waited_for),
        cmocka_unit_test(test_it_is_blind_while_nothing_was_ever_counted),
        cmocka_unit_test(test_who_has_no_pmu_is_blind_without_software_events_and_who_measures_nothing_never),
        cmocka_unit_test(test_the_counter_that_the_watchdog_holds_is_held_against_the_plan_once),
        cmocka_unit_test(test_a_probe_tells_whether_the_watchdog_holds_a_counter),
        cmocka_unit_test(test_a_watchdog_that_is_switched_while_topdownd_runs_is_noticed_within_two_minutes),
        cmocka_unit_test(test_a_round_is_shown_and_what_changed_is_looked_at_in_the_next_step),
        cmocka_unit_test(test_cpus_that_come_online_are_measured_from_then_on),
        cmocka_unit_test(test_cpus_that_become_isolated_are_let_go_and_measured_again_when_they_return),
        cmocka_unit_test(test_where_no_cpu_is_left_it_is_said_once_and_measured_on),
        cmocka_unit_test(test_memory_that_is_short_while_cpus_are_looked_for_ends_the_daemon),
        cmocka_unit_test(test_where_nothing_rotates_a_cost_above_the_budget_is_said_once),
        cmocka_unit_test(test_slots_grow_where_measuring_and_its_interrupts_cost_more_than_the_budget),
        cmocka_unit_test(test_the_schedule_follows_the_bottleneck_and_back),
        cmocka_unit_test(test_the_log_says_once_what_a_lasting_verdict_is_and_what_comes_next),
        cmocka_unit_test(test_raising_all_is_said_to_give_none_more),
        cmocka_unit_test(test_counters_that_are_taken_are_missed_and_found_again),
        cmocka_unit_test(test_all_counters_taken_are_said_once_and_cost_no_plan),
        cmocka_unit_test(test_a_probe_that_cannot_open_anything_is_begun_again_later),
        cmocka_unit_test(test_counters_are_free_at_once_and_something_is_shown_every_second),
        cmocka_unit_test(test_who_asks_again_gets_the_new_time_and_0_ends_it),
        cmocka_unit_test(test_a_probe_that_is_interrupted_is_begun_again_when_it_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
