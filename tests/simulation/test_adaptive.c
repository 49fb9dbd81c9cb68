// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// The adaptive schedule on a host whose load turns backend bound and back: which groups get the windows, and that all
// sums stay true.

static const char *const GROUPS[] = {"stage_1",
                                     "Branch_Effectiveness",
                                     "ITLB_Effectiveness",
                                     "L1I_Cache_Effectiveness",
                                     "L1D_Cache_Effectiveness",
                                     "L2_Cache_Effectiveness",
                                     "SVE_Effectiveness",
                                     "FP_Precision_Mix",
                                     "FP_Arithmetic_Intensity",
                                     "General",
                                     NULL};
enum { BRANCH = 1, ITLB, L1I, L1D, L2 };

static void start(struct pipeline *p, unsigned counters, bool adaptive) {
    pipeline_load(p, "tests/data/scenarios/bottleneck.json");
    p->scenario->general_counters = counters;
    pipeline_start(p, SECOND_NS / 5, 7, GROUPS);
    if (adaptive)
        pipeline_adapt(p);
}

// Windows so far of the event group that the metric comes from.
static double windows_of(const struct pipeline *p, const char *metric) {
    int unit = p->plan->metrics[pipeline_metric(p, metric)].unit;
    assert_true(unit >= 0);
    return p->snapshot
        ->values[snapshot_windows(p->snapshot->layout, p->plan->units[unit].first_group, WINDOW_COMPLETE)];
}

struct counts {
    double l1d, l2, branch, level1, seconds;
};

static struct counts counts_now(const struct pipeline *p) {
    return (struct counts){.l1d = windows_of(p, "l1d_cache_miss_ratio"),
                           .l2 = windows_of(p, "l2_cache_miss_ratio"),
                           .branch = windows_of(p, "branch_miss_ratio"),
                           .level1 = windows_of(p, "frontend_bound_ratio"),
                           .seconds = (double)(p->snapshot->end_ns - EPOCH_NS) * 1e-9};
}

// Windows a second between two moments.
static struct counts rates_between(struct counts from, struct counts to) {
    double seconds = to.seconds - from.seconds;
    return (struct counts){(to.l1d - from.l1d) / seconds, (to.l2 - from.l2) / seconds,
                           (to.branch - from.branch) / seconds, (to.level1 - from.level1) / seconds, seconds};
}

static struct counts rates_until(struct pipeline *p, double from, double until) {
    pipeline_run_until(p, from);
    struct counts before = counts_now(p);
    pipeline_run_until(p, until);
    return rates_between(before, counts_now(p));
}

static void test_a_backend_bound_load_gets_the_cache_groups_more_windows_and_they_give_them_back(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 4, true);
    struct counts before = rates_until(&p, 10, 118);
    assert_int_equal(p.n_plans, 1);
    struct counts waiting = rates_until(&p, 140, 410);
    assert_int_equal(p.n_plans, 2);
    assert_true(adapt_raised(p.adapt)[L1D] && adapt_raised(p.adapt)[L2]);
    assert_false(adapt_raised(p.adapt)[BRANCH] || adapt_raised(p.adapt)[ITLB] || adapt_raised(p.adapt)[L1I]);
    assert_true(waiting.l1d > 1.5 * before.l1d && waiting.l2 > 1.5 * before.l2);
    assert_true(waiting.branch < before.branch && waiting.branch >= before.branch / 2 - 0.05);
    assert_near(waiting.level1, before.level1, 0.1, "windows of level 1");
    struct counts after = rates_until(&p, 470, 600);
    assert_int_equal(p.n_plans, 3);
    assert_near(after.l1d, before.l1d, 0.05, "windows of L1D");
    assert_near(after.branch, before.branch, 0.05, "windows of branches");
    assert_true(adapt_report(p.adapt)->causes[CATEGORY_BACKEND_BOUND].high == 2);
    assert_true(adapt_report(p.adapt)->causes[CATEGORY_BACKEND_BOUND].fell == 2);
    pipeline_stop(&p);
}

static void test_level_1_has_its_third_of_the_time_in_every_phase(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 4, true);
    while (p.n_plans < 3) {
        unsigned unit = (unsigned)p.plan->level1_unit;
        assert_true(plan_share(p.plan, unit) >= 1.0 / 3);
        (void)pipeline_step(&p, 0);
    }
    pipeline_stop(&p);
}

// The load has two jumps; each may be missed by a window of the group, of 700 seconds and more.
static void test_totals_are_the_truth_while_shares_change(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 4, true);
    pipeline_run_until(&p, 700);
    assert_int_equal(p.n_plans, 3);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_totals_true(&p, scope, 0.02);
    assert_all_accounted(&p, 1e-9);
    double slots = 0;
    for (size_t c = 0; c < p.layout->n_level1; c++)
        slots += p.snapshot->values[snapshot_category(p.layout, 0, c)];
    assert_near(slots, p.snapshot->values[snapshot_pipeline_slots(p.layout, 0)], 1e-9, "pipeline slots");
    pipeline_stop(&p);
}

static void test_a_fixed_schedule_stays_as_it_is(void **state) {
    (void)state;
    struct pipeline p;
    start(&p, 4, false);
    pipeline_run_until(&p, 600);
    assert_int_equal(p.n_plans, 1);
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_backend_bound_load_gets_the_cache_groups_more_windows_and_they_give_them_back),
        cmocka_unit_test(test_level_1_has_its_third_of_the_time_in_every_phase),
        cmocka_unit_test(test_totals_are_the_truth_while_shares_change),
        cmocka_unit_test(test_a_fixed_schedule_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
