// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "core/tally/snapshot.h"

static struct topology *two_sockets(void) {
    static const struct topology_source cpus[] = {
        {0, 0, 0, true}, {1, 1, 0, true}, {2, 0, 1, true}, {3, 1, 1, false}, {4, 2, 1, true}};
    return build_topology(cpus, N_OF(cpus));
}

static struct catalog_builder *some_metrics_builder(void) {
    struct catalog_builder *builder = empty_builder();
    level1_of(builder, "4 * FIXED_CYCLES", "100 * A / (4 * FIXED_CYCLES)", "100 * B / (4 * FIXED_CYCLES)");
    metric_of(builder, "cd", "C / D", NULL);
    metric_of(builder, "de", "D / (E + cpu_seconds)", NULL);
    metric_of(builder, "wide", "(F + G + H) / I", NULL);
    group_of(builder, "L1", "frontend_bound backend_bound");
    group_of(builder, "Rest", "cd de wide");
    return builder;
}

static struct catalog *some_metrics(void) { return catalog_builder_finish(some_metrics_builder()); }

// And what two actions could win, one of which is selected.
static struct catalog *some_bounds(void) {
    struct catalog_builder *builder = some_metrics_builder();
    metric_of(builder, "opportunity_locks", "min(backend_bound / 100, cd)", "share of slots");
    metric_of(builder, "opportunity_smt", "min(frontend_bound / 100, cd)", "share of slots");
    group_of(builder, "Bound", "opportunity_smt");
    return catalog_builder_finish(builder);
}

static struct snapshot_layout *layout_of(struct plan *plan) {
    struct snapshot_layout *layout = snapshot_layout_new(plan, two_sockets());
    assert_non_null(layout);
    return layout;
}

// Counts each offset that a layout gives out.
struct census {
    size_t n_values;
    unsigned *seen;
};

static void count(struct census *census, size_t offset) {
    assert_true(offset < census->n_values);
    census->seen[offset]++;
}

static void count_scope(struct census *census, const struct snapshot_layout *layout, size_t scope) {
    for (size_t m = 0; m < snapshot_n_metrics(layout, scope); m++) {
        count(census, snapshot_metric(layout, scope, m));
        count(census, snapshot_rate_above(layout, scope, m));
        count(census, snapshot_standard_error(layout, scope, m));
        count(census, snapshot_low(layout, scope, m));
        count(census, snapshot_high(layout, scope, m));
        count(census, snapshot_metric_windows(layout, scope, m));
        count(census, snapshot_share_of_time(layout, scope, m));
        count(census, snapshot_numerator(layout, scope, m));
        count(census, snapshot_denominator(layout, scope, m));
    }
    count(census, snapshot_deviation(layout, scope));
    count(census, snapshot_level1_error(layout, scope));
    for (size_t c = 0; c < layout->n_level1; c++)
        count(census, snapshot_category(layout, scope, c));
    count(census, snapshot_pipeline_slots(layout, scope));
    count(census, snapshot_contention(layout, scope));
    for (size_t e = 0; e < layout->n_events; e++)
        count(census, snapshot_event(layout, scope, e));
    count(census, snapshot_covered(layout, scope));
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        count(census, snapshot_uncovered(layout, scope, (enum uncovered)reason));
    count(census, snapshot_guest(layout, scope));
    count(census, snapshot_busy(layout, scope));
}

static void count_host(struct census *census, const struct snapshot_layout *layout) {
    for (size_t g = 0; g < layout->plan->n_groups; g++) {
        for (int result = 0; result < WINDOW_RESULT_N; result++)
            count(census, snapshot_windows(layout, g, (enum window_result)result));
        count(census, snapshot_enabled(layout, g));
        count(census, snapshot_running(layout, g));
    }
    for (size_t e = 0; e < layout->n_events; e++)
        for (int trouble = 0; trouble < EVENT_TROUBLE_N; trouble++)
            count(census, snapshot_trouble(layout, e, (enum event_trouble)trouble));
    for (size_t s = 0; s < layout->topology->n_sockets; s++) {
        count(census, snapshot_offline(layout, s));
        count(census, snapshot_measured(layout, s));
    }
    for (size_t scope = 0; scope <= layout->topology->n_sockets; scope++) {
        for (size_t m = 0; m <= layout->n_metrics; m++)
            count(census, snapshot_verdict(layout, scope, m));
        count(census, snapshot_verdict_since(layout, scope));
        count(census, snapshot_verdict_certain(layout, scope));
        count(census, snapshot_verdict_unseen(layout, scope));
    }
    count(census, snapshot_gauges_begun(layout));
    count(census, snapshot_gauges_ended(layout));
    count(census, snapshot_gauges_age(layout));
}

// Every value of a snapshot has one place, and every place holds one value.
static void check_layout(const struct snapshot_layout *layout) {
    struct census census = {layout->n_values, calloc(layout->n_values, sizeof *census.seen)};
    assert_non_null(census.seen);
    for (size_t scope = 0; scope < layout->n_scopes; scope++)
        count_scope(&census, layout, scope);
    count_host(&census, layout);
    count(&census, layout->n_values - 1); // of what single CPUs lack
    for (size_t i = 0; i < layout->n_values; i++)
        assert_int_equal(census.seen[i], 1);
    free(census.seen);
}

static void test_every_value_has_one_place_and_every_place_one_value(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    const struct plan_selection selections[] = {{0, 0}, {1, 0}};
    for (unsigned counters = 0; counters < 5; counters++)
        for (size_t first = 0; first < 2; first++)
            for (size_t n = 0; n <= 2 - first; n++) {
                struct plan *plan = plan_of(catalog, counters, 0.1, selections + first, n);
                struct snapshot_layout *layout = layout_of(plan);
                check_layout(layout);
                assert_null(snapshot_layout_unref(layout));
            }
    assert_null(snapshot_layout_unref(NULL));
    catalog_free(catalog);
}

static void test_single_cpus_lack_the_bounds_that_nobody_selected(void **state) {
    (void)state;
    struct catalog *catalog = some_bounds();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    size_t last = layout->n_metrics - 1;
    assert_int_equal(layout->n_metrics, 7);
    assert_int_equal(layout->n_cpu_metrics, 6);
    assert_string_equal(catalog->metrics[layout->plan->metrics[last].metric].name, "opportunity_locks");
    check_layout(layout);
    for (size_t cpu = 0; cpu < 4; cpu++) {
        size_t scope = snapshot_scope_cpu(layout, cpu), nothing = layout->n_values - 1;
        assert_int_equal(snapshot_metric(layout, scope, last), nothing);
        assert_int_equal(snapshot_rate_above(layout, scope, last), nothing);
        assert_int_equal(snapshot_high(layout, scope, last), nothing);
        assert_int_equal(snapshot_share_of_time(layout, scope, last), nothing);
        assert_int_equal(snapshot_numerator(layout, scope, last), nothing);
        assert_int_equal(snapshot_denominator(layout, scope, last), nothing);
        assert_int_equal(snapshot_state(layout, scope, last), snapshot_n_states(layout));
    }
    assert_int_equal(snapshot_n_states(layout), 3 * 7 + 4 * 6);
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_a_layout_has_a_scope_for_the_host_each_socket_and_each_cpu(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    assert_int_equal(layout->n_scopes, 1 + 2 + 4);
    assert_int_equal(snapshot_scope_socket(1), 2);
    assert_int_equal(snapshot_scope_cpu(layout, 0), 3);
    assert_int_equal(snapshot_scope_cpu(layout, 3), 6);
    assert_int_equal(layout->n_metrics, 5);
    assert_int_equal(layout->n_level1, 2);
    assert_int_equal(layout->n_events, 10); // FIXED_CYCLES, A to I, each once
    for (unsigned e = 0; e < 10; e++)
        assert_int_equal(layout->events[e], e + 1);
    snapshot_layout_unref(layout);

    const struct plan_selection rest = {1, 0}; // without level 1
    layout = layout_of(plan_of(catalog, 4, 0.1, &rest, 1));
    assert_int_equal(layout->n_level1, 0);
    assert_int_equal(layout->n_metrics, 3);
    assert_int_equal(layout->n_events, 7); // C to I
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_what_does_not_fit_now_keeps_its_places_for_when_it_does(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 1, 0.1)); // nothing fits
    assert_int_equal(layout->plan->n_units, 0);
    assert_int_equal(layout->plan->level1_unit, -1);
    assert_int_equal(layout->n_metrics, 5);
    assert_int_equal(layout->n_level1, 2);
    assert_int_equal(layout->n_events, 10);
    for (unsigned e = 0; e < 10; e++)
        assert_int_equal(layout->events[e], e + 1);
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_a_layout_lives_as_long_as_a_snapshot_of_it(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    assert_int_equal(atomic_load(&layout->references), 1);
    assert_ptr_equal(snapshot_layout_ref(layout), layout);
    struct snapshot *snapshot = snapshot_new(layout);
    assert_int_equal(atomic_load(&layout->references), 3);
    snapshot_layout_unref(layout);
    snapshot_layout_unref(layout);
    assert_int_equal(atomic_load(&layout->references), 1);
    assert_int_equal(snapshot->layout->plan->n_metrics, 5); // still there: the address sanitizer watches
    assert_int_equal(snapshot->layout->topology->n_cpus, 4);
    snapshot_unref(snapshot);
    catalog_free(catalog);
}

static void test_a_new_snapshot_holds_no_value(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    struct snapshot *snapshot = snapshot_new(layout);
    assert_non_null(snapshot);
    assert_ptr_equal(snapshot->layout, layout);
    assert_int_equal(snapshot->sequence, 0);
    for (size_t i = 0; i < layout->n_values; i++)
        assert_true(isnan(snapshot->values[i]));
    for (size_t i = 0; i < snapshot_n_states(layout); i++)
        assert_true(snapshot->absent[i] == ABSENT_NO_ROUND && snapshot_quality(snapshot, i) == ESTIMATE_NONE);
    snapshot_unref(snapshot);
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_a_stale_snapshot_is_of_the_time_when_it_was_taken(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    struct snapshot *snapshot = snapshot_new(layout);
    assert_true(isnan(snapshot->taken_seconds));
    snapshot->taken_seconds = 1.7e9;
    struct snapshot *stale = snapshot_stale(snapshot);
    assert_non_null(stale);
    assert_true(stale->taken_seconds == 1.7e9);
    snapshot_unref(stale);
    snapshot_unref(snapshot);
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_a_stale_snapshot_has_no_intervals_either(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    struct snapshot *snapshot = snapshot_new(layout);
    for (size_t i = 0; i < layout->n_values; i++)
        snapshot->values[i] = 1;
    for (size_t i = 0; i < snapshot_n_states(layout); i++)
        snapshot_set_trust(snapshot, i, ESTIMATE_GOOD, ESTIMATE_SURE);
    struct snapshot *stale = snapshot_stale(snapshot);
    assert_non_null(stale);
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        for (size_t m = 0; m < layout->n_metrics; m++) {
            assert_true(isnan(stale->values[snapshot_standard_error(layout, scope, m)]));
            assert_true(isnan(stale->values[snapshot_low(layout, scope, m)]));
            assert_true(isnan(stale->values[snapshot_high(layout, scope, m)]));
            assert_true(isnan(stale->values[snapshot_metric_windows(layout, scope, m)]));
            assert_true(isnan(stale->values[snapshot_share_of_time(layout, scope, m)]));
            assert_int_equal(snapshot_quality(stale, snapshot_state(layout, scope, m)), ESTIMATE_NONE);
            assert_true(stale->values[snapshot_numerator(layout, scope, m)] == 1);
        }
    }
    snapshot_unref(stale);
    snapshot_unref(snapshot);
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_a_snapshot_lives_until_its_last_reference_goes(void **state) {
    (void)state;
    struct catalog *catalog = some_metrics();
    struct snapshot_layout *layout = layout_of(plan_of_all(catalog, 4, 0.1));
    struct snapshot *snapshot = snapshot_new(layout);
    assert_int_equal(atomic_load(&snapshot->references), 1);
    assert_ptr_equal(snapshot_ref(snapshot), snapshot);
    assert_ptr_equal(snapshot_ref(snapshot), snapshot);
    assert_int_equal(atomic_load(&snapshot->references), 3);
    assert_null(snapshot_unref(snapshot));
    assert_null(snapshot_unref(snapshot));
    assert_int_equal(atomic_load(&snapshot->references), 1);
    snapshot->values[layout->n_values - 1] = 1; // still there: the address sanitizer watches
    assert_null(snapshot_unref(snapshot));
    assert_null(snapshot_unref(NULL));
    snapshot_layout_unref(layout);
    catalog_free(catalog);
}

static void test_reasons_have_names(void **state) {
    (void)state;
    static const char *const names[] = {"starved", "failed", "offline", "stalled", "not_plannable", "yielded", "gap"};
    static const char *const troubles[] = {"stalled", "filtered", "dead", "unsupported", "starved"};
    assert_int_equal(N_OF(troubles), EVENT_TROUBLE_N);
    for (size_t i = 0; i < N_OF(troubles); i++)
        assert_string_equal(event_trouble_name((enum event_trouble)i), troubles[i]);
    assert_int_equal(N_OF(names), UNCOVERED_N);
    for (size_t i = 0; i < N_OF(names); i++)
        assert_string_equal(uncovered_name((enum uncovered)i), names[i]);
    assert_string_equal(absent_text(ABSENT_NOT), "");
    for (int a = ABSENT_NOT + 1; a < ABSENT_N; a++) {
        assert_true(strlen(absent_text((enum absent)a)) > 10);
        for (int b = ABSENT_NOT; b < a; b++)
            assert_string_not_equal(absent_text((enum absent)a), absent_text((enum absent)b));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_has_one_place_and_every_place_one_value),
        cmocka_unit_test(test_single_cpus_lack_the_bounds_that_nobody_selected),
        cmocka_unit_test(test_a_layout_has_a_scope_for_the_host_each_socket_and_each_cpu),
        cmocka_unit_test(test_what_does_not_fit_now_keeps_its_places_for_when_it_does),
        cmocka_unit_test(test_a_layout_lives_as_long_as_a_snapshot_of_it),
        cmocka_unit_test(test_a_new_snapshot_holds_no_value),
        cmocka_unit_test(test_a_stale_snapshot_is_of_the_time_when_it_was_taken),
        cmocka_unit_test(test_a_stale_snapshot_has_no_intervals_either),
        cmocka_unit_test(test_a_snapshot_lives_until_its_last_reference_goes),
        cmocka_unit_test(test_reasons_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
