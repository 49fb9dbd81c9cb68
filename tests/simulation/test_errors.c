// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/fault_check.h"

// Every error that perf_event_open(2), ioctl(2) and read(2) can give, at every single call: nothing leaks, nothing
// stops, no total falls, and unaffected values stay exact.

static const int ERRORS[] = {-EMFILE, -EACCES, -ENOENT, -ENODEV, -EINVAL, -EBUSY, -EOPNOTSUPP, -ENOMEM};
enum { N_ERRORS = sizeof ERRORS / sizeof *ERRORS, CPUS = 2 };

static void load_two_cpus(struct pipeline *p) {
    fault_load(p);
    p->scenario->sockets = 1;
    p->scenario->cores_per_socket = CPUS;
    topology_free(p->topology);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
}

static void start_with(struct pipeline *p, size_t from, size_t until, int error) {
    p->recorder.fail_from = from;
    p->recorder.fail_until = until;
    p->recorder.fail_error = error;
    fault_start(p, SECOND_NS, 1);
}

static void assert_all_is_well(const struct pipeline *p) {
    assert_all_gauges_true(p);
    assert_all_accounted(p, 1e-9);
    assert_level1_is_whole(p);
    assert_int_equal(p->follow.counters, 6);
    assert_int_equal(p->recorder.n_open, p->topology->n_cpus * p->plan->n_groups);
}

// A value that is there is true; a total is not more than the truth.
static void assert_nothing_is_invented(const struct pipeline *p, size_t scope) {
    for (size_t m = 0; m < p->plan->n_metrics; m++) {
        const struct catalog_metric *metric = &p->catalog->metrics[p->plan->metrics[m].metric];
        double value = p->snapshot->values[snapshot_metric(p->layout, scope, m)];
        if (!isnan(value))
            assert_near(value, pipeline_truth(p, scope, m, p->snapshot->start_ns, p->snapshot->end_ns), 1e-6,
                        metric->name);
        double total = p->snapshot->values[snapshot_denominator(p->layout, scope, m)];
        if (metric->formula->is_ratio && !isnan(total))
            assert_true(total <= (1 + 1e-6) * pipeline_true_sum(p, scope, &metric->formula->denominator, p->start_ns,
                                                                p->snapshot->end_ns));
    }
}

static void assert_only_the_failed_cpu_suffers(const struct pipeline *p) {
    assert_gauges_true(p, 0, 1e-6); // there is another CPU
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        size_t scope = snapshot_scope_cpu(p->layout, cpu);
        assert_nothing_is_invented(p, scope);
        if (cpu == p->recorder.failed_cpu)
            continue;
        assert_gauges_true(p, scope, 1e-6);
        assert_totals_true(p, scope, 1e-6);
        assert_near(covered(p, scope), elapsed_seconds(p), 1e-9, "covered");
    }
}

static void test_each_error_at_each_call_of_the_start_and_of_two_rounds(void **state) {
    (void)state;
    struct pipeline p;
    load_two_cpus(&p);
    start_with(&p, 0, 0, 0);
    pipeline_run(&p, 2);
    size_t n_calls = p.recorder.n_fallible;
    pipeline_end(&p);
    print_message("%zu calls\n", n_calls);
    assert_true(n_calls > 80);
    for (int e = 0; e < N_ERRORS; e++) {
        for (size_t n = 1; n <= n_calls; n++) {
            start_with(&p, n, n + 1, ERRORS[e]);
            pipeline_run(&p, 3);
            assert_true(p.recorder.n_fallible > n);
            assert_only_the_failed_cpu_suffers(&p);
            pipeline_run_until(&p, 100); // a minute later all is tried again
            assert_all_is_well(&p);
            assert_int_equal(p.n_plans, 1);
            pipeline_end(&p);
        }
    }
    pipeline_stop(&p);
}

static void test_each_error_at_each_call_while_the_plan_follows_the_counters(void **state) {
    (void)state;
    struct pipeline p;
    load_two_cpus(&p);
    add_rival(&p, RIVAL_PINNED, 4, "0-1", 1, 30); // in every window of the second round
    start_with(&p, 0, 0, 0);
    pipeline_run(&p, 1);
    size_t first = p.recorder.n_fallible + 1;
    while (p.n_plans == 1)
        pipeline_step(&p, 0);
    assert_int_equal(p.follow.counters, 2);
    size_t last = p.recorder.n_fallible + 200; // the new event groups' opening, and more
    pipeline_end(&p);
    print_message("calls %zu to %zu\n", first, last);
    for (size_t n = first; n <= last; n++) {
        start_with(&p, n, n + 1, ERRORS[n % N_ERRORS]);
        pipeline_run_until(&p, 200);
        pipeline_run(&p, 1);
        assert_true(p.recorder.n_fallible > n);
        assert_all_is_well(&p);
        pipeline_end(&p);
    }
    pipeline_stop(&p);
}

static void test_everything_fails_for_a_while_from_any_call_on(void **state) {
    (void)state;
    struct pipeline p;
    load_two_cpus(&p);
    for (int e = 0; e < N_ERRORS; e++) {
        for (size_t n = 1; n <= 200; n += 7) {
            start_with(&p, n, SIZE_MAX, ERRORS[e]);
            pipeline_run_until(&p, 60);
            enum absent reason = ERRORS[e] == -ENODEV ? ABSENT_OFFLINE : ABSENT_FAILED;
            assert_gauges_absent(&p, 0, reason);
            pipeline_run(&p, 1);
            double before = covered(&p, 0);
            pipeline_run(&p, 1);
            assert_true(covered(&p, 0) == before);
            p.recorder.fail_until = 0; // mended
            pipeline_run_until(&p, 180);
            pipeline_run(&p, 1);
            assert_all_is_well(&p);
            pipeline_end(&p);
        }
    }
    pipeline_stop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_error_at_each_call_of_the_start_and_of_two_rounds),
        cmocka_unit_test(test_each_error_at_each_call_while_the_plan_follows_the_counters),
        cmocka_unit_test(test_everything_fails_for_a_while_from_any_call_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
