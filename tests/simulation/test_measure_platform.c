// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

// The platform of a simulated host, and one that changes while the daemon measures.

static const struct platform *shown(const struct measuring *m) { return m->engine->ops->view(m->engine)->platform; }

static void test_a_simulated_host_has_what_its_scenario_says_and_nothing_of_this_host(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/bottleneck.json", "slot: 1s\n");
    measuring_start(&m);
    measuring_run_until(&m, 10);
    for (int key = 0; key < PLATFORM_KEY_N; key++) {
        const struct platform_fact *fact = &shown(&m)->facts[key];
        bool known = key == PLATFORM_SMT || key == PLATFORM_THREADS_PER_CORE || key == PLATFORM_SOCKETS;
        assert_int_equal(fact->n_values, known);
        assert_string_equal(fact->reason, known ? "" : "a scenario does not say");
    }
    assert_string_equal(shown(&m)->facts[PLATFORM_SMT].values[0].text, "off");
    assert_true(shown(&m)->facts[PLATFORM_SOCKETS].values[0].number == 2);
    assert_false(setup_look_at_platform(&m.setup, m.now_ns));
    measuring_stop(&m);
}

static void test_another_platform_is_shown_under_the_same_plan(void **state) {
    (void)state;
    struct measuring m;
    measuring_load(&m, "tests/data/scenarios/bottleneck.json", "slot: 1s\n");
    measuring_start(&m);
    m.engine->ops->refresh(m.engine); // before there is a plan
    measuring_run_until(&m, 10);
    const struct snapshot_layout *layout = m.engine->ops->view(m.engine)->layout;
    platform_unref(m.setup.platform);
    m.setup.platform = platform_new("not read yet");
    platform_set_text(m.setup.platform, PLATFORM_GOVERNOR, "powersave");
    m.engine->ops->refresh(m.engine);
    assert_string_equal(shown(&m)->facts[PLATFORM_GOVERNOR].values[0].text, "powersave");
    assert_ptr_equal(m.engine->ops->view(m.engine)->layout, layout);
    measuring_run_until(&m, 20);
    assert_int_equal(m.n_plans, 1);
    assert_string_equal(shown(&m)->facts[PLATFORM_GOVERNOR].values[0].text, "powersave");
    measuring_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_simulated_host_has_what_its_scenario_says_and_nothing_of_this_host),
        cmocka_unit_test(test_another_platform_is_shown_under_the_same_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
