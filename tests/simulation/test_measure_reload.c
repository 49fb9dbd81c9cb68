// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

#include <unistd.h>

#include "daemon/source/source_sim.h"

// Measuring goes on under another set-up (daemon/engine/measure_reload.h), on the daemon's own code in virtual time.

static const char STEADY[] = "tests/data/scenarios/steady.json"; // 8 CPUs, 6 general counters
static const char WHOLE[] = "profiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";
static const char LESS[] = "profiles: {default: {groups: [stage_1, MPKI], slot: 100ms}}\ncpus: 0-3\n";
static const char ADAPTIVE[] = "mode: adaptive\nprofiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";

// The set-ups of both sides of a reload, in turn: measuring borrows the one in force.
struct reloading {
    struct measuring m;
    struct setup second;
    struct setup *present, *next;
};

static void load_host(struct reloading *r, const char *scenario, const char *yaml) {
    memset(&r->second, 0, sizeof r->second);
    measuring_load(&r->m, scenario, yaml);
    measuring_start(&r->m);
    r->present = &r->m.setup;
    r->next = &r->second;
}

static void load(struct reloading *r, const char *yaml) { load_host(r, STEADY, yaml); }

static void write_config(struct reloading *r, const char *yaml) {
    FILE *file = fopen(r->m.config, "we");
    assert_non_null(file);
    assert_true(fputs(yaml, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// Loads the next set-up, as a reload does.
static void load_next(struct reloading *r, const char *yaml) {
    struct errors errors = {0};
    write_config(r, yaml);
    assert_int_equal(setup_init(r->next, &r->m.options, &errors), 0);
    r->next->types[0].source->driver = &r->m.driver;
}

static int prepare(struct reloading *r) {
    const struct engine_change change = {.setup = r->next, .type = &r->next->types[0], .now_ns = r->m.now_ns};
    struct errors errors = {0};
    return r->m.engine->ops->prepare(r->m.engine, &change, &errors);
}

static void change(struct reloading *r) {
    assert_int_equal(r->m.engine->ops->change(r->m.engine, r->m.now_ns), 0);
    struct setup *old = r->present;
    r->present = r->next;
    r->next = old;
    setup_deinit(old);
    r->m.deadline_ns = r->m.now_ns;
}

static void reload(struct reloading *r, const char *yaml) {
    load_next(r, yaml);
    assert_int_equal(prepare(r), 0);
    change(r);
}

static void stop(struct reloading *r) {
    struct measuring *m = &r->m;
    m->engine->ops->free(m->engine);
    m->engine = NULL;
    if (r->present == &r->second) {
        setup_deinit(&r->second);
        memset(&m->setup, 0, sizeof m->setup); // freed before
    }
    measuring_stop(m);
}

static struct snapshot *totals(struct reloading *r) {
    struct snapshot *snapshot = r->m.engine->ops->snapshot(r->m.engine);
    assert_non_null(snapshot);
    return snapshot;
}

static int find_metric(const struct snapshot_layout *layout, const char *name) {
    for (size_t i = 0; i < layout->n_metrics; i++)
        if (strcmp(layout->catalog->metrics[layout->plan->metrics[i].metric].export_name, name) == 0)
            return (int)i;
    return -1;
}

static double total(const struct snapshot *snapshot, const char *metric) {
    int m = find_metric(snapshot->layout, metric);
    assert_true(m >= 0);
    return snapshot->values[snapshot_numerator(snapshot->layout, 0, (size_t)m)];
}

static size_t count_calls(const struct measuring *m, enum call_kind kind) {
    size_t n = 0;
    assert_true(m->recorder.n_calls < CALLS_MAX);
    for (size_t i = 0; i < m->recorder.n_calls; i++)
        n += m->recorder.calls[i].kind == kind;
    return n;
}

static void test_totals_go_on_to_the_bit_and_grow(void **state) {
    (void)state;
    struct reloading r;
    load(&r, WHOLE);
    measuring_run_until(&r.m, 10);
    measuring_reach(&r.m, MEASURE_LOOKING);
    struct snapshot *before = totals(&r);
    reload(&r, LESS);
    struct snapshot *after = totals(&r);
    assert_ptr_not_equal(before->layout, after->layout);
    assert_true(find_metric(after->layout, "l2_cache_miss_ratio") < 0);
    assert_int_equal(after->layout->topology->n_cpus, 4);
    assert_true(total(before, "branch_mpki") > 0);
    assert_true(total(after, "branch_mpki") == total(before, "branch_mpki"));
    for (size_t i = 0; i < after->layout->n_level1; i++)
        assert_true(after->values[snapshot_category(after->layout, 0, i)] ==
                    before->values[snapshot_category(before->layout, 0, i)]);
    measuring_run_until(&r.m, 20);
    struct snapshot *later = totals(&r);
    assert_true(total(later, "branch_mpki") > total(after, "branch_mpki"));
    measuring_reach(&r.m, MEASURE_LOOKING);
    reload(&r, WHOLE);
    struct snapshot *back = totals(&r);
    assert_true(total(back, "l2_cache_miss_ratio") == total(before, "l2_cache_miss_ratio"));
    assert_true(total(back, "branch_mpki") >= total(later, "branch_mpki"));
    snapshot_unref(before);
    snapshot_unref(after);
    snapshot_unref(later);
    snapshot_unref(back);
    stop(&r);
}

static double covered_by(struct reloading *r) {
    struct snapshot *now = totals(r);
    double covered = now->values[snapshot_covered(now->layout, 0)];
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        assert_true(isfinite(now->values[snapshot_uncovered(now->layout, 0, (enum uncovered)reason)]));
    snapshot_unref(now);
    return covered;
}

static void test_coverage_goes_on_where_only_software_events_are_left_and_back(void **state) {
    (void)state;
    static const char *const yaml[] = {"profiles: {default: {groups: [Software]}}\n",
                                       "profiles: {default: {groups: []}}\n",
                                       "profiles: {default: {groups: [General, Software]}}\n"};
    struct reloading r;
    double covered = 0;
    load(&r, yaml[2]);
    for (int i = 0; i < 6; i++) {
        measuring_run_until(&r.m, 10 * (i + 1));
        measuring_reach(&r.m, MEASURE_LOOKING);
        double now = covered_by(&r);
        assert_true(i % 3 == 2 ? now >= covered : now > covered); // with nothing selected nothing is covered
        covered = now;
        reload(&r, yaml[i % 3]);
        assert_true(covered_by(&r) == covered);
    }
    stop(&r);
}

static void test_the_same_configuration_opens_and_closes_nothing(void **state) {
    (void)state;
    struct reloading r;
    load(&r, WHOLE);
    measuring_run_until(&r.m, 10);
    measuring_reach(&r.m, MEASURE_LOOKING);
    size_t opened = count_calls(&r.m, CALL_OPEN), n_open = r.m.recorder.n_open, probes = r.m.n_probes;
    reload(&r, ADAPTIVE);
    measuring_run_until(&r.m, 20);
    assert_int_equal(count_calls(&r.m, CALL_OPEN), opened);
    assert_int_equal(r.m.recorder.n_open, n_open);
    assert_int_equal(r.m.n_probes, probes); // what was found of the counters holds
    stop(&r);
}

static void test_a_reload_in_each_state_leads_on(void **state) {
    (void)state;
    struct reloading r;
    load(&r, WHOLE);
    load_next(&r, LESS);
    assert_int_equal(prepare(&r), -EAGAIN); // no plan yet
    assert_int_equal(measuring_state(&r.m), MEASURE_FINDING);
    setup_deinit(r.next);
    measuring_reach(&r.m, MEASURE_MEASURING);
    measuring_run_until(&r.m, 3.3); // within a round
    reload(&r, LESS);
    assert_int_equal(measuring_state(&r.m), MEASURE_MEASURING);
    measuring_run_until(&r.m, 8);
    assert_int_equal(r.m.snapshot->layout->topology->n_cpus, 4);
    assert_int_equal(measuring_yield(&r.m, 5), 0);
    reload(&r, WHOLE);
    assert_int_equal(measuring_state(&r.m), MEASURE_YIELDED);
    assert_int_equal(measuring_held(&r.m), 0);
    measuring_reach(&r.m, MEASURE_MEASURING);
    measuring_run_until(&r.m, measuring_seconds(&r.m) + 8);
    assert_int_equal(r.m.snapshot->layout->topology->n_cpus, 8);
    assert_true(status_engine_series(&r.m.snapshot->engine, STATUS_PMU_UP) == 1);
    stop(&r);
}

static void test_what_cannot_be_prepared_changes_nothing(void **state) {
    (void)state;
    struct reloading r;
    load(&r, WHOLE);
    measuring_run_until(&r.m, 6);
    measuring_reach(&r.m, MEASURE_LOOKING);
    const struct plan *plan = measuring_plan(&r.m);
    struct snapshot *before = totals(&r);
    load_next(&r, "record: {path: /nowhere/there/recording}\nprofiles: {default: {groups: [stage_1]}}\n");
    assert_int_equal(prepare(&r), -EINVAL);
    setup_deinit(r.next);
    load_next(&r, LESS);
    assert_int_equal(prepare(&r), 0);
    r.m.engine->ops->abandon(r.m.engine);
    setup_deinit(r.next);
    assert_ptr_equal(measuring_plan(&r.m), plan);
    struct snapshot *after = totals(&r);
    for (size_t i = 0; i < snapshot_windows(before->layout, 0, (enum window_result)0); i++)
        assert_true(before->values[i] == after->values[i] || (isnan(before->values[i]) && isnan(after->values[i])));
    measuring_run_until(&r.m, 20);
    assert_true(total(r.m.snapshot, "branch_mpki") > total(before, "branch_mpki"));
    snapshot_unref(before);
    snapshot_unref(after);
    stop(&r);
}

// A spec that was edited: its events are opened anew, and totals go on by name.
static void test_another_spec_begins_anew_and_totals_go_on(void **state) {
    (void)state;
    struct reloading r;
    load(&r, WHOLE);
    measuring_run_until(&r.m, 10);
    measuring_reach(&r.m, MEASURE_LOOKING);
    struct snapshot *before = totals(&r);
    double since = r.m.snapshot->verdicts[0].now.since.seconds;
    assert_true(since > 0);
    load_next(&r, WHOLE);
    struct catalog *catalog = r.next->types[0].source->catalog;
    const struct catalog *old = r.present->types[0].source->catalog;
    catalog->metrics[0].rate_threshold = 12345;
    r.next->types[0].source->driver = r.m.inner; // a PMU of its own, which is not recorded
    assert_int_equal(prepare(&r), 0);
    assert_true(r.m.recorder.n_open > 0);
    change(&r);
    assert_int_equal(r.m.recorder.n_open, 0);
    assert_ptr_equal(measuring_plan(&r.m)->catalog, catalog);
    assert_ptr_not_equal(measuring_plan(&r.m)->catalog, old);
    struct snapshot *after = totals(&r);
    assert_true(total(after, "ipc") == total(before, "ipc") && total(before, "ipc") > 0);
    measuring_run_until(&r.m, 20);
    assert_true(total(r.m.snapshot, "ipc") > total(before, "ipc"));
    assert_true(r.m.snapshot->verdicts[0].now.since.seconds == since);
    snapshot_unref(before); // an old page's: its catalog is freed with it
    snapshot_unref(after);
    stop(&r);
}

static void test_a_verdict_lasts_over_a_reload(void **state) {
    (void)state;
    struct reloading r;
    load(&r, WHOLE);
    measuring_run_until(&r.m, 30);
    measuring_reach(&r.m, MEASURE_LOOKING);
    double since = r.m.snapshot->verdicts[0].now.since.seconds;
    assert_true(since > 0);
    reload(&r, LESS);
    measuring_run_until(&r.m, 60);
    assert_true(r.m.snapshot->verdicts[0].now.since.seconds == since);
    stop(&r);
}

static const char *definition_of(const struct snapshot *snapshot, const char *metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    return layout->catalog->metrics[layout->plan->metrics[find_metric(layout, metric)].metric].definition;
}

// What is known of the host's events stays, so the definition does too, and its totals go on.
static void test_a_definition_that_took_anothers_place_lasts_over_a_reload(void **state) {
    (void)state;
    struct reloading r;
    load_host(&r, "tests/data/scenarios/dead.json", "profiles: {default: {groups: [LL_Cache_Effectiveness, MPKI]}}\n");
    measuring_run_until(&r.m, 30);
    measuring_reach(&r.m, MEASURE_LOOKING);
    struct snapshot *before = totals(&r);
    reload(&r, "profiles: {default: {groups: [General, LL_Cache_Effectiveness]}}\n");
    struct snapshot *after = totals(&r);
    assert_string_equal(definition_of(before, "ll_cache_mpki"), "l3_refills");
    assert_string_equal(definition_of(after, "ll_cache_mpki"), "l3_refills");
    assert_true(total(before, "ll_cache_mpki") > 0);
    assert_true(total(after, "ll_cache_mpki") == total(before, "ll_cache_mpki"));
    measuring_run_until(&r.m, 60);
    assert_true(total(r.m.snapshot, "ll_cache_mpki") > total(after, "ll_cache_mpki"));
    snapshot_unref(after);
    snapshot_unref(before);
    stop(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals_go_on_to_the_bit_and_grow),
        cmocka_unit_test(test_coverage_goes_on_where_only_software_events_are_left_and_back),
        cmocka_unit_test(test_the_same_configuration_opens_and_closes_nothing),
        cmocka_unit_test(test_a_reload_in_each_state_leads_on),
        cmocka_unit_test(test_what_cannot_be_prepared_changes_nothing),
        cmocka_unit_test(test_another_spec_begins_anew_and_totals_go_on),
        cmocka_unit_test(test_a_verdict_lasts_over_a_reload),
        cmocka_unit_test(test_a_definition_that_took_anothers_place_lasts_over_a_reload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
