// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

// From one plan to the next: derive_continue keeps every total.

// A derive for so many counters and these CPUs (NULL: all), with the totals of `old`.
static struct derive *continue_with(const struct pipeline *p, unsigned counters, const char *cpus,
                                    const struct derive *old, struct snapshot_layout **layout) {
    const struct plan_request request = {.catalog = p->catalog,
                                         .general_counters = counters,
                                         .selections = p->selections,
                                         .n_selections = p->n_selections,
                                         .support = p->support,
                                         .slot_ns = p->slot_ns,
                                         .idle = 0.1};
    struct cpuset selected;
    struct topology *topology;
    struct plan *plan;
    assert_int_equal(cpuset_parse(cpus ? cpus : "0-7", &selected), 0);
    assert_int_equal(pmu_sim_topology(p->scenario, &selected, &topology), 0);
    assert_int_equal(plan_new(&request, &plan), 0);
    *layout = snapshot_layout_new(plan, topology);
    assert_non_null(*layout);
    struct derive *derive = derive_new(*layout);
    assert_non_null(derive);
    assert_int_equal(derive_continue(derive, old), 0);
    return derive;
}

static struct snapshot *initial(const struct derive *derive, struct snapshot_layout *layout) {
    struct snapshot *snapshot = snapshot_new(layout);
    assert_non_null(snapshot);
    derive_initial(derive, snapshot);
    return snapshot;
}

// All totals of a scope, whatever the plan: they lie alike. A total without a value may have become 0 or the reverse.
static void assert_same_totals(const struct snapshot *a, size_t scope_a, const struct snapshot *b, size_t scope_b) {
    size_t first_a = snapshot_numerator(a->layout, scope_a, 0), first_b = snapshot_numerator(b->layout, scope_b, 0);
    size_t n = snapshot_guest(a->layout, scope_a) - first_a + 1;
    assert_int_equal(snapshot_guest(b->layout, scope_b) - first_b + 1, n);
    size_t n_values = 0;
    for (size_t i = 0; i < n; i++) {
        double before = a->values[first_a + i], after = b->values[first_b + i];
        n_values += before > 0;
        if (!(before == after || ((isnan(before) || before == 0) && (isnan(after) || after == 0))))
            fail_msg("total %zu was %.17g and is %.17g", i, before, after);
    }
    assert_true(n_values > 20);
}

static int group_named(const struct plan *plan, const char *name) {
    for (size_t g = 0; g < plan->n_groups; g++)
        if (strcmp(plan->groups[g].name, name) == 0)
            return (int)g;
    return -1;
}

// Returns how many event groups both have.
static size_t assert_same_group_totals(const struct snapshot *a, const struct snapshot *b) {
    size_t common = 0;
    for (size_t g = 0; g < a->layout->plan->n_groups; g++) {
        int other = group_named(b->layout->plan, a->layout->plan->groups[g].name);
        if (other < 0)
            continue;
        assert_memory_equal(&a->values[snapshot_windows(a->layout, g, 0)],
                            &b->values[snapshot_windows(b->layout, (size_t)other, 0)],
                            (WINDOW_RESULT_N + 2) * sizeof *a->values);
        common++;
    }
    return common;
}

static void test_a_plan_grows_and_shrinks_and_every_total_stays(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    p.scenario->general_counters = 2;
    start(&p);
    pipeline_run(&p, 5);
    struct snapshot_layout *layouts[3];
    struct derive *derives[4] = {p.derive};
    struct snapshot *snapshots[3];
    const unsigned counters[3] = {6, 1, 2}; // with one, level 1 does not fit
    for (int i = 0; i < 3; i++) {
        derives[i + 1] = continue_with(&p, counters[i], NULL, derives[i], &layouts[i]);
        snapshots[i] = initial(derives[i + 1], layouts[i]);
    }
    for (int i = 0; i < 3; i++) {
        for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
            assert_same_totals(p.snapshot, scope, snapshots[i], scope);
        assert_true(snapshots[i]->sequence == p.snapshot->sequence);
    }
    // event groups that one of the plans in between did not have are back with what they had counted
    assert_true(assert_same_group_totals(p.snapshot, snapshots[0]) < p.plan->n_groups);
    assert_int_equal(assert_same_group_totals(p.snapshot, snapshots[2]), p.plan->n_groups);
    for (int i = 0; i < 3; i++) {
        snapshot_unref(snapshots[i]);
        derive_free(derives[i + 1]);
        snapshot_layout_unref(layouts[i]);
    }
    pipeline_stop(&p);
}

static void test_other_cpus_are_matched_by_their_numbers_and_the_hosts_totals_stay(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_OFFLINE, 0, "5", 2, 4); // CPU 5 can be told from the others
    start(&p);
    pipeline_run(&p, 5);
    struct snapshot_layout *layout;
    struct derive *derive = continue_with(&p, 6, "5-6", p.derive, &layout);
    struct snapshot *snapshot = initial(derive, layout);
    assert_same_totals(p.snapshot, 0, snapshot, 0);
    assert_same_totals(p.snapshot, snapshot_scope_socket(1), snapshot, snapshot_scope_socket(1));
    assert_same_totals(p.snapshot, snapshot_scope_cpu(p.layout, 5), snapshot, snapshot_scope_cpu(layout, 0));
    assert_same_totals(p.snapshot, snapshot_scope_cpu(p.layout, 6), snapshot, snapshot_scope_cpu(layout, 1));
    snapshot_unref(snapshot);
    derive_free(derive);
    snapshot_layout_unref(layout);
    pipeline_stop(&p);
}

// A configuration may take metric groups and CPUs away and bring them back.
static void test_what_a_plan_in_between_did_not_have_comes_back_with_its_totals(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    start(&p);
    pipeline_run(&p, 5);
    struct pipeline less = p;
    struct snapshot_layout *layouts[3];
    struct derive *derives[3];
    less.n_selections = 1; // stage_1
    derives[0] = continue_with(&less, 6, "1-2", p.derive, &layouts[0]);
    less.selections[0] = p.selections[2]; // MPKI, without level 1
    derives[1] = continue_with(&less, 6, "5", derives[0], &layouts[1]);
    derives[2] = continue_with(&p, 6, NULL, derives[1], &layouts[2]);
    assert_true(layouts[0]->n_metrics < p.layout->n_metrics && layouts[1]->n_level1 == 0);
    struct snapshot *between = initial(derives[1], layouts[1]), *after = initial(derives[2], layouts[2]);
    size_t mpki = pipeline_metric(&p, "branch_mpki"), n = 0;
    for (size_t m = 0; m < layouts[1]->n_metrics; m++) {
        if (layouts[1]->plan->metrics[m].metric != p.plan->metrics[mpki].metric)
            continue;
        assert_true(between->values[snapshot_numerator(layouts[1], 0, m)] ==
                    p.snapshot->values[snapshot_numerator(p.layout, 0, mpki)]);
        n++;
    }
    assert_int_equal(n, 1);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_same_totals(p.snapshot, scope, after, scope);
    snapshot_unref(between);
    snapshot_unref(after);
    for (int i = 0; i < 3; i++) {
        derive_free(derives[i]);
        snapshot_layout_unref(layouts[i]);
    }
    pipeline_stop(&p);
}

// A reload reads the spec again, and the new catalog has its entries elsewhere.
static void test_totals_continue_over_another_catalog_by_name(void **state) {
    (void)state;
    struct pipeline p, other;
    fault_load(&p);
    fault_load(&other);
    start(&p);
    pipeline_run(&p, 5);
    start(&other);
    struct catalog_metric *metrics = other.catalog->metrics;
    size_t ipc = pipeline_metric(&p, "ipc"), at = other.plan->n_metrics - 1;
    while (other.plan->metrics[at].unit == PLAN_COMBINED) // what is made of others has no totals of its own
        at--;
    size_t last = other.plan->metrics[at].metric;
    struct snapshot_layout *layout;
    struct derive *derive = continue_with(&other, 6, NULL, p.derive, &layout);
    struct snapshot *snapshot = initial(derive, layout);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_same_totals(p.snapshot, scope, snapshot, scope);
    snapshot_unref(snapshot);
    derive_free(derive);
    snapshot_layout_unref(layout);
    struct catalog_metric kept = metrics[last]; // what was another metric is not the same one at the same place
    char name[] = "another_name";
    metrics[last].export_name = name;
    derive = continue_with(&other, 6, NULL, p.derive, &layout);
    snapshot = initial(derive, layout);
    assert_false(snapshot->values[snapshot_denominator(layout, 0, at)] > 0);
    assert_true(snapshot->values[snapshot_numerator(layout, 0, ipc)] > 0);
    metrics[last] = kept;
    snapshot_unref(snapshot);
    derive_free(derive);
    snapshot_layout_unref(layout);
    pipeline_stop(&p);
    pipeline_stop(&other);
}

static void test_what_was_pending_is_uncovered_for_its_reason(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_PINNED, 6, "0-7", 10, 0);
    start(&p);
    while (p.snapshot == NULL || p.snapshot->absent[0] != ABSENT_STARVED)
        pipeline_step(&p, 0);
    double sum = covered(&p, 0), pending = 8 * elapsed_seconds(&p) - sum;
    assert_true(pending > 8); // a round of which nothing is known yet
    assert_only_uncovered(&p, 0, UNCOVERED_N);
    struct snapshot_layout *layout;
    struct derive *derive = continue_with(&p, 2, NULL, p.derive, &layout);
    struct snapshot *snapshot = initial(derive, layout);
    assert_true(snapshot->values[snapshot_covered(layout, 0)] == sum);
    assert_near(snapshot->values[snapshot_uncovered(layout, 0, UNCOVERED_STARVED)], pending, 1e-9, "given up");
    snapshot_unref(snapshot);
    derive_free(derive);
    snapshot_layout_unref(layout);
    pipeline_stop(&p);
}

// CPUs that become isolated take nothing with them.
static void test_what_was_pending_on_a_cpu_that_leaves_is_uncovered_in_its_socket_and_the_host(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    add_rival(&p, RIVAL_PINNED, 6, "0-7", 10, 0);
    start(&p);
    while (p.snapshot == NULL || p.snapshot->absent[0] != ABSENT_STARVED)
        pipeline_step(&p, 0);
    double pending = 8 * elapsed_seconds(&p) - covered(&p, 0);
    struct snapshot_layout *layout;
    struct derive *derive = continue_with(&p, 6, "0-3,5", p.derive, &layout);
    struct snapshot *snapshot = initial(derive, layout);
    assert_near(snapshot->values[snapshot_uncovered(layout, 0, UNCOVERED_STARVED)], pending, 1e-9, "given up");
    for (size_t s = 1; s <= 2; s++)
        assert_near(snapshot->values[snapshot_uncovered(layout, s, UNCOVERED_STARVED)],
                    4 * elapsed_seconds(&p) - covered(&p, snapshot_scope_socket(s - 1)), 1e-9, "given up in a socket");
    snapshot_unref(snapshot);
    derive_free(derive);
    snapshot_layout_unref(layout);
    pipeline_stop(&p);
}

static void test_what_has_counted_stays_believed_and_what_has_not_stays_stalled(void **state) {
    (void)state;
    struct pipeline p;
    fault_load(&p);
    silence(&p, "BR_MIS_PRED_RETIRED", 0);
    pipeline_must_count(p.catalog, "BR_MIS_PRED_RETIRED");
    start(&p);
    pipeline_run(&p, 5);
    size_t mpki = pipeline_metric(&p, "branch_mpki"), ipc = pipeline_metric(&p, "ipc");
    assert_int_equal(p.snapshot->absent[mpki], ABSENT_STALLED);
    struct snapshot_layout *layout;
    struct derive *derive = continue_with(&p, 2, NULL, p.derive, &layout);
    struct snapshot *snapshot = initial(derive, layout); // before a first round under the new plan
    assert_true(isnan(snapshot->values[snapshot_numerator(layout, 0, mpki)]));
    assert_true(isnan(snapshot->values[snapshot_denominator(layout, 0, mpki)]));
    assert_true(snapshot->values[snapshot_numerator(layout, 0, ipc)] > 0);
    snapshot_unref(snapshot);
    derive_free(derive);
    snapshot_layout_unref(layout);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plan_grows_and_shrinks_and_every_total_stays),
        cmocka_unit_test(test_other_cpus_are_matched_by_their_numbers_and_the_hosts_totals_stay),
        cmocka_unit_test(test_what_a_plan_in_between_did_not_have_comes_back_with_its_totals),
        cmocka_unit_test(test_totals_continue_over_another_catalog_by_name),
        cmocka_unit_test(test_what_was_pending_is_uncovered_for_its_reason),
        cmocka_unit_test(test_what_was_pending_on_a_cpu_that_leaves_is_uncovered_in_its_socket_and_the_host),
        cmocka_unit_test(test_what_has_counted_stays_believed_and_what_has_not_stays_stalled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
