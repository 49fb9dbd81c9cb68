// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

// The CPU time of making a plan is charged to the budget as a change, whatever the plan is made for. The sources are
// compiled into this program with makers of plans that take as long as a test says, and nothing else takes any time.

static struct measuring *of_test;
static uint64_t plan_cost_ns;
static size_t n_made; // plans
static bool refuses;

static int costly_stage_init(struct stage *stage, const struct stage_request *request, const struct stage *before,
                             struct errors *errors) {
    n_made++;
    of_test->cpu_ns += plan_cost_ns;
    return refuses ? errors_add(errors, NULL, 0, 0, "no plan can be made") : stage_init(stage, request, before, errors);
}

static int costly_stage_plan(const struct stage_request *request, struct errors *errors, struct plan **out) {
    n_made++;
    of_test->cpu_ns += plan_cost_ns;
    return stage_plan(request, errors, out);
}

#define stage_init costly_stage_init
#define stage_plan costly_stage_plan
#include "daemon/engine/measure_plan.c"
#include "daemon/engine/measure_reload.c"
#include "daemon/engine/trials.c"

static const char STEADY[] = "tests/data/scenarios/steady.json"; // 8 CPUs, whose budget is 1 ms a second
static const char YAML[] = "profiles: {default: {groups: [stage_1, General, MPKI, Miss_Ratio]}}\n";

static void load(struct measuring *m, const char *scenario, const char *yaml) {
    refuses = false;
    of_test = m;
    n_made = 0;
    plan_cost_ns = 400000000;
    measuring_load(m, scenario, yaml);
}

static void assert_charged(const struct measuring *m, unsigned plans) {
    assert_near(m->self.change_seconds, 0.4 * plans, 1e-9, "CPU time of changes");
    assert_near(m->self.status.cost.collection_seconds, 0.4 * plans, 1e-9, "CPU time");
}

static void test_the_first_plan_is_the_start_and_others_are_changes(void **state) {
    (void)state;
    struct measuring m;
    load(&m, STEADY, YAML);
    measuring_start(&m);
    measuring_run_until(&m, 20);
    assert_int_equal(m.n_plans, 1);
    assert_charged(&m, 0);
    assert_true(self_may_change(&m.self, m.now_ns));
    m.self.budget.factor = 1.5;
    measuring_run_until(&m, 28);
    assert_int_equal(m.n_plans, 2);
    assert_charged(&m, 1);
    assert_false(self_may_change(&m.self, m.now_ns));
    measuring_run_until(&m, 60);
    assert_true(m.snapshot->status.cost.budget_used > 1);
    measuring_stop(&m);
}

// What starves is asked for again as early as if the first plan had taken no time.
static void test_the_first_plan_delays_no_probe(void **state) {
    (void)state;
    struct measuring m;
    load(&m, STEADY, YAML);
    measuring_add_rival(&m, RIVAL_PINNED, 4, "0-7", 0, 0);
    measuring_start(&m);
    measuring_run_until(&m, 18);
    assert_int_equal(m.n_probes, 1);
    measuring_stop(&m);
}

static void test_a_plan_that_cannot_be_made_is_charged_too(void **state) {
    (void)state;
    struct measuring m;
    load(&m, STEADY, YAML);
    measuring_start(&m);
    measuring_run_until(&m, 10);
    refuses = true;
    m.self.budget.factor = 1.5;
    measuring_run_until(&m, 18);
    assert_int_equal(measuring_said(&m, "no plan can be made"), 1);
    assert_charged(&m, 1);
    measuring_stop(&m);
}

// That of the adaptive schedule waits until another one is paid.
static void test_a_plan_waits_until_the_last_one_is_paid(void **state) {
    (void)state;
    struct measuring m;
    load(&m, "tests/data/scenarios/bottleneck.json",
         "mode: adaptive\nprofiles: {default: {groups: [stage_1, Branch_Effectiveness, ITLB_Effectiveness, "
         "L1D_Cache_Effectiveness, L2_Cache_Effectiveness, General]}}\n");
    measuring_start(&m);
    measuring_run_until(&m, 119);
    m.self.budget.factor = 1.5;
    measuring_run_until(&m, 130);
    assert_int_equal(m.n_plans, 2);
    plan_cost_ns = 0;
    measuring_run_until(&m, 450);
    assert_int_equal(m.n_plans, 2);
    measuring_run_until(&m, 700);
    assert_true(m.n_plans > 2);
    measuring_stop(&m);
}

// Event groups starve by a rule that the plan does not know: plans are made for trials, and one of what these say.
static void test_the_plan_of_a_trial_is_charged(void **state) {
    (void)state;
    struct measuring m;
    load(&m, "tests/data/scenarios/haswell.json", YAML);
    m.setup.types[0].source->smt_at_boot = false;
    plan_cost_ns = 1000000;
    measuring_start(&m);
    measuring_run_until(&m, 60);
    assert_int_equal(m.n_plans, 2);
    assert_true(n_made > 2);
    assert_near(m.self.change_seconds, 0.001 * (double)(n_made - 1), 1e-9, "CPU time of changes");
    measuring_stop(&m);
}

// What is prepared and then given up has taken the time as well.
static void test_the_plan_of_a_reload_is_charged(void **state) {
    (void)state;
    struct measuring m;
    struct setup next;
    struct errors errors = {0};
    load(&m, STEADY, YAML);
    measuring_start(&m);
    measuring_run_until(&m, 20);
    assert_int_equal(setup_init(&next, &m.options, &errors), 0);
    next.types[0].source->driver = &m.driver;
    const struct engine_change change = {.setup = &next, .type = &next.types[0], .now_ns = m.now_ns};
    assert_int_equal(m.engine->ops->prepare(m.engine, &change, &errors), 0);
    assert_charged(&m, 1);
    m.engine->ops->abandon(m.engine);
    setup_deinit(&next);
    measuring_stop(&m);
}

// While others are measured, boxes that come have a plan that is a change; at the start they do not.
static void test_boxes_that_come_later_are_a_change(void **state) {
    (void)state;
    for (int later = 0; later < 2; later++) {
        struct measuring m;
        load(&m, "tests/data/scenarios/steady-software.json", "interval: 1s\n");
        m.setup.types[0].topology->boxes = true;
        self_init(&m.self, &m.clocks, 8, m.now_ns);
        struct self self = m.self;
        self.status.rotations.n = (uint64_t)later;
        const struct measure_request request = {
            .setup = &m.setup, .type = &m.setup.types[0], .self = &self, .seed = 7, .now_ns = m.now_ns};
        assert_int_equal(measure_new(&request, &m.errors, &m.engine), 0);
        assert_near(self.change_seconds, 0.4 * later, 1e-9, "CPU time of changes");
        m.engine->ops->free(m.engine);
        m.engine = NULL;
        measuring_stop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_plan_is_the_start_and_others_are_changes),
        cmocka_unit_test(test_the_first_plan_delays_no_probe),
        cmocka_unit_test(test_a_plan_that_cannot_be_made_is_charged_too),
        cmocka_unit_test(test_a_plan_waits_until_the_last_one_is_paid),
        cmocka_unit_test(test_the_plan_of_a_trial_is_charged),
        cmocka_unit_test(test_the_plan_of_a_reload_is_charged),
        cmocka_unit_test(test_boxes_that_come_later_are_a_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
