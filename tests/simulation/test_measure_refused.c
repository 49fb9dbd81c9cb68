// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

// What measuring does where another plan is needed and none can be made: the old one goes on. The source is compiled
// into this program with a maker of stages that can refuse.

static bool refuses;

static int stage_init_or_refuse(struct stage *stage, const struct stage_request *request, const struct stage *before,
                                struct errors *errors) {
    return refuses ? errors_add(errors, NULL, 0, 0, "no plan can be made") : stage_init(stage, request, before, errors);
}

#define stage_init stage_init_or_refuse
#include "daemon/engine/measure_plan.c"

static const char STEADY[] = "tests/data/scenarios/steady.json"; // 8 CPUs, 6 general counters
static const char YAML[] = "profiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";

static void load(struct measuring *m, const char *scenario, const char *yaml) {
    refuses = false;
    measuring_load(m, scenario, yaml);
}

static void assert_measures(struct measuring *m, size_t n_cpus) {
    size_t before = m->n_snapshots;
    measuring_run_until(m, measuring_seconds(m) + 20);
    assert_true(m->n_snapshots >= before + 2);
    assert_int_equal(m->recorder.n_open, measuring_plan(m)->n_groups * n_cpus);
}

// What is free is asked for again, and the plan follows as soon as one can be made.
static void test_a_plan_for_fewer_counters_that_cannot_be_made_leaves_the_old_one(void **state) {
    (void)state;
    struct measuring m;
    load(&m, STEADY, YAML);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 20, 0);
    measuring_start(&m);
    measuring_run_until(&m, 19);
    refuses = true;
    measuring_run_until(&m, 60);
    assert_true(m.n_probes >= 1);
    assert_int_equal(measuring_said(&m, "no plan can be made"), m.n_probes);
    assert_int_equal(measuring_said(&m, "general counters can be had"), 0);
    assert_int_equal(m.n_plans, 1);
    assert_int_equal(measuring_plan(&m)->general_counters, 6);
    assert_int_equal(((const struct measure *)m.engine)->follow.counters, 6);
    assert_measures(&m, 8);
    refuses = false;
    measuring_run_until(&m, 400);
    assert_int_equal(measuring_plan(&m)->general_counters, 2);
    assert_int_equal(measuring_said(&m, "2 general counters can be had instead of 6"), 1);
    assert_measures(&m, 8);
    measuring_stop(&m);
}

// It would fail at every look: the next length of slots is tried, not the same again.
static void test_slots_of_a_length_that_cannot_be_planned_are_tried_once(void **state) {
    (void)state;
    struct measuring m;
    load(&m, STEADY, YAML);
    measuring_start(&m);
    measuring_run_until(&m, 10);
    uint64_t slot_ns = measuring_plan(&m)->slot_ns;
    refuses = true;
    m.self.budget.factor = 1.5;
    measuring_run_until(&m, 18);
    assert_int_equal(measuring_said(&m, "no plan can be made"), 1);
    assert_int_equal(measuring_said(&m, "of its budget"), 0);
    assert_true(measuring_plan(&m)->slot_ns == slot_ns);
    refuses = false;
    assert_int_equal(m.n_plans, 1);
    m.self.budget.factor = 2.25;
    measuring_run_until(&m, 26); // the budget is judged after 30 s
    assert_int_equal(m.n_plans, 2);
    assert_true(measuring_plan(&m)->slot_ns > slot_ns);
    assert_measures(&m, 8);
    measuring_stop(&m);
}

static void test_cpus_that_cannot_be_planned_stay_unmeasured(void **state) {
    (void)state;
    struct measuring m;
    struct cpuset first;
    load(&m, STEADY, YAML);
    assert_int_equal(cpuset_parse("0-3", &first), 0);
    struct topology *all = m.setup.types[0].topology;
    assert_int_equal(pmu_sim_topology(measuring_scenario(&m), &first, &m.setup.types[0].topology), 0);
    measuring_start(&m);
    measuring_run_until(&m, 20);
    refuses = true;
    m.arriving = all;
    measuring_run_until(&m, 30);
    assert_null(m.arriving);
    assert_int_equal(measuring_said(&m, "no plan can be made"), 1);
    assert_int_equal(measuring_said(&m, "have come online"), 0);
    assert_int_equal(m.setup.types[0].topology->n_cpus, 4);
    assert_measures(&m, 4);
    measuring_stop(&m);
}

static void test_a_bottleneck_that_cannot_be_followed_is_not_said_to_be(void **state) {
    (void)state;
    struct measuring m;
    load(&m, "tests/data/scenarios/bottleneck.json",
         "mode: adaptive\nprofiles: {default: {groups: [stage_1, Branch_Effectiveness, ITLB_Effectiveness, "
         "L1D_Cache_Effectiveness, L2_Cache_Effectiveness, General]}}\n");
    measuring_start(&m);
    measuring_run_until(&m, 100);
    refuses = true;
    measuring_run_until(&m, 250);
    assert_true(measuring_said(&m, "no plan can be made") >= 1);
    assert_int_equal(measuring_said(&m, " is raised"), 0);
    assert_int_equal(m.n_plans, 1);
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plan_for_fewer_counters_that_cannot_be_made_leaves_the_old_one),
        cmocka_unit_test(test_slots_of_a_length_that_cannot_be_planned_are_tried_once),
        cmocka_unit_test(test_cpus_that_cannot_be_planned_stay_unmeasured),
        cmocka_unit_test(test_a_bottleneck_that_cannot_be_followed_is_not_said_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
