// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

// What the verdict leads to is measured for as long as it does: the daemon's own code in virtual time, on a host that
// computes for two minutes, waits for data for five, and computes again.

static const char BOTTLENECK[] = "tests/data/scenarios/bottleneck.json"; // 4 CPUs
static const char PROFILE[] = "profiles: {default: {groups: [stage_1, General]}}\n";
static const char ON[] = "evidence: true\nprofiles: {default: {groups: [stage_1, General]}}\n";

static void start(struct measuring *m, const char *yaml) {
    measuring_load(m, BOTTLENECK, yaml);
    measuring_start(m);
}

static bool measures(const struct measuring *m, const char *export_name) {
    int place = snapshot_layout_place(m->snapshot->layout, export_name);
    return place >= 0 && isfinite(m->snapshot->values[snapshot_metric(m->snapshot->layout, 0, (size_t)place)]);
}

static void test_a_host_that_waits_for_data_has_its_cache_groups_until_nothing_has_asked_for_15_minutes(void **state) {
    (void)state;
    struct measuring m;
    start(&m, ON);
    measuring_run_until(&m, 110);
    assert_false(measures(&m, "l1d_cache_mpki"));
    assert_int_equal(m.n_plans, 1);
    measuring_run_until(&m, 160);
    assert_true(measures(&m, "l1d_cache_mpki") && measures(&m, "dtlb_mpki"));
    assert_false(measures(&m, "l1i_cache_mpki"));
    assert_int_equal(m.n_plans, 2);
    assert_int_equal(measuring_said(&m, "because the verdict asks for them"), 1);
    measuring_run_until(&m, 410 + 890);
    assert_true(measures(&m, "l1d_cache_mpki"));
    measuring_run_until(&m, 420 + 900 + 120);
    assert_false(measures(&m, "l1d_cache_mpki"));
    assert_int_equal(measuring_plan(&m)->n_groups, 2);
    assert_int_equal(m.n_plans, 3);
    assert_int_equal(measuring_said(&m, "no verdict has asked for lately"), 1);
    measuring_stop(&m);
}

static void test_without_the_key_nothing_is_fetched(void **state) {
    (void)state;
    struct measuring m;
    start(&m, PROFILE);
    measuring_run_until(&m, 400);
    assert_int_equal(m.n_plans, 1);
    assert_false(measures(&m, "l1d_cache_mpki"));
    measuring_stop(&m);
}

static void test_what_has_no_room_is_told_once_and_what_has_room_is_measured(void **state) {
    (void)state;
    struct measuring m;
    start(&m, "evidence: true\nslot: 4s\nprofiles: {default: {groups: [Topdown_L1]}}\n");
    measuring_run_until(&m, 400);
    assert_true(measuring_plan(&m)->round_ns <= 15 * SECOND_NS);
    assert_true(plan_n_rotating(measuring_plan(&m)) > 1);
    assert_int_equal(measuring_said(&m, "there is no room for"), 1);
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_host_that_waits_for_data_has_its_cache_groups_until_nothing_has_asked_for_15_minutes),
        cmocka_unit_test(test_without_the_key_nothing_is_fetched),
        cmocka_unit_test(test_what_has_no_room_is_told_once_and_what_has_room_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
