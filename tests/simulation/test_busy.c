// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

// For how long CPUs are busy, as the kernel of a simulated host sees it: totals of CPUs, sockets and the host, in steps
// of a millisecond, whatever else is measured there.

static double busy(const struct pipeline *p, size_t scope) {
    return p->snapshot->values[snapshot_busy(p->layout, scope)];
}

static void load_steady(struct pipeline *p, double awake) {
    fault_load(p);
    for (size_t l = 0; l < p->scenario->n_loads; l++)
        for (size_t k = 0; k < p->scenario->loads[l].n_keyframes; k++) {
            p->scenario->loads[l].keyframes[k].awake_told = true;
            p->scenario->loads[l].keyframes[k].awake = awake;
        }
    p->tells_busy = true;
}

static void test_the_busy_time_of_each_cpu_adds_up_over_sockets_and_host(void **state) {
    (void)state;
    struct pipeline p;
    load_steady(&p, 0.25);
    add_rival(&p, RIVAL_OFFLINE, 0, "3", 20, 40);
    start(&p);
    pipeline_run_until(&p, 60);
    double all = 0.25 * elapsed_seconds(&p);
    for (unsigned cpu = 0; cpu < 8; cpu++)
        assert_near(busy(&p, snapshot_scope_cpu(p.layout, cpu)), cpu == 3 ? all - 5 : all, cpu == 3 ? 0.1 : 1e-3,
                    "of a CPU");
    double of_sockets = busy(&p, snapshot_scope_socket(0)) + busy(&p, snapshot_scope_socket(1));
    assert_near(busy(&p, 0), of_sockets, 1e-9, "of the host");
    assert_near(busy(&p, 0), 8 * all - 5, 0.02, "of the host");
    pipeline_stop(&p);
}

// A look every 10 s, and more often at first: the host is never called idle because nobody looked.
static void test_looks_that_nothing_else_needs_are_seldom_and_the_share_holds_between_them(void **state) {
    (void)state;
    struct pipeline p;
    size_t n_told = 0, n = 0;
    double before = 0;
    load_steady(&p, 0.25);
    p.told_pause_ns = 10 * SECOND_NS;
    p.interval_ns = SECOND_NS;
    start(&p);
    for (pipeline_run(&p, 1); elapsed_seconds(&p) < 100; pipeline_run(&p, 1)) {
        n_told += busy(&p, 0) > before;
        before = busy(&p, 0);
        if (n++ > 0)
            assert_near(p.snapshot->circumstances.utilisation, 0.25, 0.02, "utilisation");
    }
    assert_true(n > 40 && n_told >= 10 && n_told <= 16);
    assert_true(before > 8 * 0.25 * 80 && before <= 8 * 0.25 * 101);
    pipeline_stop(&p);
}

static void test_another_plan_goes_on_with_what_was_told(void **state) {
    (void)state;
    struct pipeline p;
    load_steady(&p, 0.25);
    start(&p);
    pipeline_run_until(&p, 20);
    struct derive *next = derive_new(p.layout);
    struct snapshot *snapshot = snapshot_new(p.layout);
    assert_non_null(next);
    assert_non_null(snapshot);
    assert_int_equal(derive_continue(next, p.derive), 0);
    derive_initial(next, snapshot);
    for (size_t scope = 0; scope < p.layout->n_scopes; scope++)
        assert_true(busy(&p, scope) > 0 && snapshot->values[snapshot_busy(p.layout, scope)] == busy(&p, scope));
    snapshot_unref(snapshot);
    derive_free(next);
    pipeline_stop(&p);
}

static void test_a_guest_keeps_its_cpu_busy(void **state) {
    (void)state;
    struct pipeline p;
    load_steady(&p, 0.5);
    add_rival(&p, RIVAL_GUEST, 0, "0-3", 0, 0);
    start(&p);
    pipeline_run_until(&p, 30);
    assert_near(busy(&p, 0), 8 * 0.5 * elapsed_seconds(&p), 1e-3, "of the host");
    pipeline_stop(&p);
}

static void test_a_host_whose_loads_do_not_tell_it_has_none(void **state) {
    (void)state;
    struct pipeline p;
    load_steady(&p, 0.5);
    p.scenario->loads[0].keyframes[0].awake_told = false;
    start(&p);
    pipeline_run_until(&p, 10);
    assert_true(isnan(busy(&p, 0)) && isnan(busy(&p, snapshot_scope_cpu(p.layout, 0))));
    assert_true(isnan(p.snapshot->circumstances.utilisation));
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_busy_time_of_each_cpu_adds_up_over_sockets_and_host),
        cmocka_unit_test(test_looks_that_nothing_else_needs_are_seldom_and_the_share_holds_between_them),
        cmocka_unit_test(test_another_plan_goes_on_with_what_was_told),
        cmocka_unit_test(test_a_guest_keeps_its_cpu_busy),
        cmocka_unit_test(test_a_host_whose_loads_do_not_tell_it_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
