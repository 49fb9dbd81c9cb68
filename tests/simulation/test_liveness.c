// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

// Events that run but never count, events that the PMU lacks, and events that truly never happen.

static bool metric_needs(const struct pipeline *p, size_t m, unsigned event) {
    const struct formula *formula = p->catalog->metrics[p->plan->metrics[m].metric].formula;
    for (size_t i = 0; i < formula->n_variables; i++)
        if (formula->variables[i] == event)
            return true;
    return false;
}

static size_t event_index(const struct pipeline *p, unsigned event) {
    size_t e = 0;
    while (p->layout->events[e] != event)
        e++;
    return e;
}

// Metrics over which covered time is divided: not those that are made of others.
static size_t count_counted(const struct plan *plan) {
    size_t n = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        n += plan->metrics[m].unit != PLAN_COMBINED;
    return n;
}

// Metrics that need the event are absent for this reason and have no totals; all others are right.
static size_t assert_costs_only_its_metrics(const struct pipeline *p, unsigned event, enum absent reason) {
    size_t absent = 0;
    for (size_t m = 0; m < p->plan->n_metrics; m++) {
        double value = p->snapshot->values[snapshot_metric(p->layout, 0, m)];
        if (metric_needs(p, m, event)) {
            assert_true(isnan(value) && isnan(p->snapshot->values[snapshot_numerator(p->layout, 0, m)]));
            assert_true(isnan(p->snapshot->values[snapshot_denominator(p->layout, 0, m)]));
            assert_int_equal(p->snapshot->absent[m], reason);
            absent++;
        } else if (p->plan->metrics[m].unit >= 0) {
            assert_near(value, pipeline_truth(p, 0, m, p->snapshot->start_ns, p->snapshot->end_ns), 1e-6, "gauge");
        }
    }
    assert_true(isnan(p->snapshot->values[snapshot_event(p->layout, 0, event_index(p, event))]));
    return absent;
}

static void test_an_event_that_must_count_and_does_not_gives_no_values_until_it_does(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    pipeline_must_count(p.catalog, "BR_MIS_PRED_RETIRED");
    silence(&p, "BR_MIS_PRED_RETIRED", 60);
    start(&p);
    unsigned event = (unsigned)catalog_find_event(p.catalog, "BR_MIS_PRED_RETIRED");
    pipeline_run_until(&p, 30);
    size_t absent = assert_costs_only_its_metrics(&p, event, ABSENT_STALLED);
    assert_true(absent > 0);
    assert_true(p.snapshot->values[snapshot_trouble(p.layout, event_index(&p, event), EVENT_STALLED)] == 1);
    assert_only_uncovered(&p, 0, UNCOVERED_STALLED);
    assert_near(uncovered(&p, 0, UNCOVERED_STALLED),
                8 * elapsed_seconds(&p) * (double)absent / (double)count_counted(p.plan), 1e-9, "stalled time");
    assert_all_accounted(&p, 1e-9);
    pipeline_run_until(&p, 65);
    assert_all_gauges_true(&p);
    assert_true(isnan(p.snapshot->values[snapshot_trouble(p.layout, event_index(&p, event), EVENT_STALLED)]));
    double stalled = uncovered(&p, 0, UNCOVERED_STALLED);
    size_t mpki = pipeline_metric(&p, "branch_mpki");
    assert_true(p.snapshot->values[snapshot_numerator(p.layout, 0, mpki)] > 0);
    pipeline_run(&p, 3);
    assert_true(uncovered(&p, 0, UNCOVERED_STALLED) == stalled);
    assert_all_accounted(&p, 1e-9);
    pipeline_stop(&p);
}

static void test_an_event_that_the_pmu_advertises_and_that_never_counts_is_zero(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    pipeline_must_count(p.catalog, "BR_MIS_PRED_RETIRED");
    silence(&p, "BR_MIS_PRED_RETIRED", 0);
    memset(p.support, PLAN_SUPPORTED, p.catalog->n_events);
    start(&p);
    pipeline_run_until(&p, 30);
    assert_true(pipeline_gauge(&p, 0, "branch_mpki") == 0);
    assert_true(uncovered(&p, 0, UNCOVERED_STALLED) == 0);
    pipeline_stop(&p);
}

static void test_a_stalled_level1_event_stops_the_split_and_nothing_else(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    silence(&p, "STALL_SLOT_BACKEND", 0);
    pipeline_must_count(p.catalog, "STALL_SLOT_BACKEND");
    start(&p);
    pipeline_run_until(&p, 30);
    unsigned event = (unsigned)catalog_find_event(p.catalog, "STALL_SLOT_BACKEND");
    assert_true(assert_costs_only_its_metrics(&p, event, ABSENT_STALLED) > 0);
    for (size_t i = 0; i < p.layout->n_level1; i++)
        assert_true(isnan(p.snapshot->values[snapshot_category(p.layout, 0, i)]));
    assert_true(isnan(p.snapshot->values[snapshot_pipeline_slots(p.layout, 0)]));
    pipeline_stop(&p);
}

static void test_an_idle_host_is_not_stalled(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    p.scenario->n_assignments = 0;
    start(&p);
    pipeline_run_until(&p, 30);
    assert_gauges_absent(&p, 0, ABSENT_UNDEFINED);
    assert_near(covered(&p, 0), 8 * elapsed_seconds(&p), 1e-9, "covered");
    size_t ipc = pipeline_metric(&p, "ipc");
    assert_true(p.snapshot->values[snapshot_denominator(p.layout, 0, ipc)] == 0); // measured: nothing happened
    for (size_t e = 0; e < p.layout->n_events; e++)
        assert_true(isnan(p.snapshot->values[snapshot_trouble(p.layout, e, EVENT_STALLED)]));
    pipeline_stop(&p);
}

static void test_an_unsupported_event_is_not_opened_and_costs_only_its_metrics(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    unsigned event = (unsigned)catalog_find_event(p.catalog, "BR_MIS_PRED_RETIRED");
    p.support[event] = PLAN_UNSUPPORTED;
    p.recorder.refused_config = p.catalog->events[event].code.config; // it would fail what it is in
    start(&p);
    assert_int_equal(p.follow.counters, 6);
    pipeline_run_until(&p, 30);
    assert_true(assert_costs_only_its_metrics(&p, event, ABSENT_NOT_PLANNABLE) > 0);
    assert_true(p.snapshot->values[snapshot_trouble(p.layout, event_index(&p, event), EVENT_UNSUPPORTED)] == 1);
    assert_int_equal((int)pipeline_windows(&p, WINDOW_FAILED), 0);
    assert_only_uncovered(&p, 0, UNCOVERED_NOT_PLANNABLE);
    assert_all_accounted(&p, 1e-9);
    pipeline_stop(&p);
}

static void forget_rates(struct scenario *scenario, const char *event) {
    for (size_t l = 0; l < scenario->n_loads; l++)
        for (size_t k = 0; k < scenario->loads[l].n_keyframes; k++)
            for (size_t i = 0; i < scenario->loads[l].keyframes[k].n_rates; i++)
                if (strcmp(scenario->loads[l].keyframes[k].rates[i].event, event) == 0)
                    scenario->loads[l].keyframes[k].rates[i].per_second = 0;
}

static void check_level1_without_drops(const char *spec) {
    static const char *const groups[] = {"stage_1", NULL}, dropped[] = "INT_MISC.UOP_DROPPING";
    struct pipeline p;
    pipeline_load_spec(&p, spec, 1);
    forget_rates(p.scenario, dropped);
    pipeline_start(&p, SECOND_NS / 10, 1, groups);
    pipeline_run(&p, 4);
    size_t m = pipeline_metric(&p, "frontend_bound_ratio");
    assert_true(metric_needs(&p, m, (unsigned)catalog_find_event(p.catalog, dropped)));
    assert_near(p.snapshot->values[snapshot_metric(p.layout, 0, m)],
                pipeline_truth(&p, 0, m, p.snapshot->start_ns, p.snapshot->end_ns), 1e-3, "front-end bound");
    assert_true(p.snapshot->values[snapshot_category(p.layout, 0, 0)] > 0);
    assert_true(pipeline_uncovered(&p, UNCOVERED_STALLED) == 0);
    pipeline_stop(&p);
}

// Sapphire Rapids and its relatives subtract dropped pipeline slots from level 1. A program may drop none.
static void test_a_correction_that_is_0_leaves_level_1_alone(void **state) {
    (void)state;
    static const char *const specs[] = {"sapphire-rapids", "emerald-rapids", "granite-rapids",
                                        "ice-lake-sp",     "golden-cove",    "redwood-cove"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        check_level1_without_drops(specs[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_that_must_count_and_does_not_gives_no_values_until_it_does),
        cmocka_unit_test(test_an_event_that_the_pmu_advertises_and_that_never_counts_is_zero),
        cmocka_unit_test(test_a_stalled_level1_event_stops_the_split_and_nothing_else),
        cmocka_unit_test(test_an_idle_host_is_not_stalled),
        cmocka_unit_test(test_an_unsupported_event_is_not_opened_and_costs_only_its_metrics),
        cmocka_unit_test(test_a_correction_that_is_0_leaves_level_1_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
