// SPDX-License-Identifier: Apache-2.0
// Event groups that starve although the counters are there, on a simulated Haswell with SMT: with the plan that knows
// the kernel's rule of exclusive events none does; a plan that does not know it learns from trials.

#include "tests/simulation/measuring.h"

#define HASWELL "tests/data/scenarios/haswell.json"

// Without the kernel's software events, which count all the time.
static void load(struct measuring *m, bool knows_the_rule, const char *yaml) {
    char groups[256];
    (void)snprintf(groups, sizeof groups, "%sprofiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n",
                   yaml);
    measuring_load(m, HASWELL, groups);
    m->setup.types[0].source->smt_at_boot = knows_the_rule;
}

static double windows(const struct measuring *m, enum window_result result) {
    double n = 0;
    for (size_t g = 0; g < measuring_plan(m)->n_groups; g++)
        n += m->snapshot->values[snapshot_windows(m->snapshot->layout, g, result)];
    return n;
}

// The share of the windows since now, over so many seconds, in which a group starved.
static double starved_share(struct measuring *m, double seconds) {
    double starved = windows(m, WINDOW_STARVED), complete = windows(m, WINDOW_COMPLETE);
    measuring_run_until(m, measuring_seconds(m) + seconds);
    starved = windows(m, WINDOW_STARVED) - starved;
    complete = windows(m, WINDOW_COMPLETE) - complete;
    return starved / (starved + complete);
}

static void test_a_plan_that_knows_exclusive_events_never_starves(void **state) {
    (void)state;
    struct measuring m;
    load(&m, true, "");
    measuring_start(&m);
    measuring_run_until(&m, 60);
    assert_true(windows(&m, WINDOW_STARVED) == 0 && windows(&m, WINDOW_COMPLETE) > 100);
    assert_true(windows(&m, WINDOW_CONTENDED) == 0);
    assert_int_equal(m.n_plans, 1);
    measuring_stop(&m);
}

static bool *which_fit(size_t *n) {
    struct measuring m;
    load(&m, true, "");
    measuring_start(&m);
    measuring_run_until(&m, 5);
    *n = measuring_plan(&m)->n_metrics;
    bool *fit = calloc(*n, sizeof *fit);
    assert_non_null(fit);
    for (size_t i = 0; i < *n; i++)
        fit[i] = plan_metric_planned(&measuring_plan(&m)->metrics[i]);
    measuring_stop(&m);
    return fit;
}

// Each metric that the rule lets run is measured, the others say why not.
static void assert_learned(const struct measuring *m, const bool *fit, size_t n) {
    const struct plan *plan = measuring_plan(m);
    size_t missing = 0;
    assert_int_equal(plan->n_metrics, n);
    for (size_t i = 0; i < n; i++) {
        const struct plan_metric *metric = &plan->metrics[i];
        if (fit[i] != plan_metric_planned(metric))
            fail_msg("%s: %s", plan->catalog->metrics[metric->metric].name, metric->reason);
        missing += !fit[i];
        if (!fit[i])
            assert_non_null(strstr(metric->reason, "got no counters, not even alone on a core"));
    }
    assert_true(missing > 0 && missing < n / 4);
}

// At most one event group at a time is on for a CPU, a trial's included, and the groups of the plan stay open.
static void run_watching(struct measuring *m, double seconds) {
    while (measuring_seconds(m) < seconds) {
        measuring_step(m);
        unsigned on[8] = {0};
        for (size_t handle = 0; handle < HANDLES_MAX; handle++)
            if (m->recorder.open[handle] && m->recorder.enabled[handle])
                assert_true(++on[m->recorder.cpu_of[handle]] == 1);
    }
}

// Without the rule a quarter of the windows starve.
static void test_a_rule_that_nobody_knows_is_learned_in_idle_slots(void **state) {
    (void)state;
    struct measuring m;
    size_t n;
    bool *fit = which_fit(&n);
    load(&m, false, "");
    measuring_start(&m);
    measuring_run_until(&m, 5);
    assert_near(starved_share(&m, 4), 0.25, 0.1, "of the windows starve");
    run_watching(&m, 60);
    assert_learned(&m, fit, n);
    assert_true(starved_share(&m, 30) == 0);
    assert_int_equal(m.n_plans, 2);
    assert_int_equal(m.n_probes, 1);
    assert_int_equal(measuring_said(&m, "is no longer measured: its events got no counters"), 1);
    free(fit);
    measuring_stop(&m);
}

static void test_without_idle_slots_it_is_learned_in_those_of_the_starving_groups(void **state) {
    (void)state;
    struct measuring m;
    size_t n;
    bool *fit = which_fit(&n);
    load(&m, false, "idle: 0%\n");
    measuring_start(&m);
    measuring_run_until(&m, 60);
    assert_learned(&m, fit, n);
    assert_true(starved_share(&m, 30) == 0);
    free(fit);
    measuring_stop(&m);
}

// The metric that is missing is looked for from ten seconds to an hour apart, and no plan is made for it.
static void test_what_does_not_run_is_tried_again_ever_more_rarely(void **state) {
    (void)state;
    struct measuring m;
    load(&m, false, "");
    measuring_start(&m);
    measuring_run_until(&m, 60);
    size_t tried[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        size_t opened = m.recorder.n_open, opens = 0;
        double until = measuring_seconds(&m) + 1000;
        while (measuring_seconds(&m) < until) {
            measuring_step(&m);
            opens += m.recorder.n_open > opened;
            opened = m.recorder.n_open;
        }
        tried[i] = opens;
    }
    assert_true(tried[0] >= 4 && tried[0] <= 6 && tried[1] <= 1 && tried[2] <= 1);
    assert_int_equal(m.n_plans, 2);
    assert_int_equal(m.n_probes, 1);
    measuring_stop(&m);
}

static void test_counters_are_handed_over_while_a_trial_runs(void **state) {
    (void)state;
    struct measuring m;
    load(&m, false, "");
    measuring_start(&m);
    measuring_run_until(&m, 5);
    size_t of_plan = measuring_plan(&m)->n_groups * 8;
    while (m.recorder.n_open <= of_plan || measuring_state(&m) != MEASURE_MEASURING) {
        assert_true(measuring_seconds(&m) < 60);
        measuring_step(&m);
    }
    assert_int_equal(measuring_yield(&m, 5), 0);
    assert_int_equal(measuring_held(&m), 0);
    measuring_run_until(&m, 120);
    assert_true(starved_share(&m, 30) == 0);
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plan_that_knows_exclusive_events_never_starves),
        cmocka_unit_test(test_a_rule_that_nobody_knows_is_learned_in_idle_slots),
        cmocka_unit_test(test_without_idle_slots_it_is_learned_in_those_of_the_starving_groups),
        cmocka_unit_test(test_what_does_not_run_is_tried_again_ever_more_rarely),
        cmocka_unit_test(test_counters_are_handed_over_while_a_trial_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
