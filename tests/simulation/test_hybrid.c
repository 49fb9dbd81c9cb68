// SPDX-License-Identifier: Apache-2.0
//
// A host with two core types, each measured by itself: its own spec, counters, plan and PMU.

#include "tests/simulation/pipeline.h"

static const char SCENARIO[] = "tests/data/scenarios/hybrid.json";
static const char *const GROUPS[] = {"Topdown_L1", "General", "MPKI", "Miss_Ratio", NULL};

enum { BIG, SMALL, TYPES, CPUS = 6 };

static void start_type(struct pipeline *p, size_t type) {
    pipeline_load_type(p, SCENARIO, type);
    pipeline_start_following(p, SECOND_NS / 5, 7 + type, GROUPS);
}

static bool has_cpu(const struct pipeline *p, unsigned id) {
    for (size_t i = 0; i < p->topology->n_cpus; i++)
        if (p->topology->cpus[i].id == id)
            return true;
    return false;
}

static void test_every_cpu_is_of_one_type_and_none_is_excluded(void **state) {
    (void)state;
    struct pipeline p[TYPES];
    for (size_t type = 0; type < TYPES; type++)
        start_type(&p[type], type);
    for (unsigned cpu = 0; cpu < CPUS; cpu++)
        assert_true(has_cpu(&p[BIG], cpu) != has_cpu(&p[SMALL], cpu));
    assert_int_equal(p[BIG].topology->n_cpus, 2);
    assert_int_equal(p[SMALL].topology->n_cpus, 4);
    for (size_t type = 0; type < TYPES; type++) {
        assert_int_equal(p[type].topology->sockets[0].excluded, 0);
        pipeline_stop(&p[type]);
    }
}

static void test_each_type_has_its_own_counters_and_true_values(void **state) {
    (void)state;
    struct pipeline p[TYPES];
    static const unsigned counters[] = {6, 5};
    for (size_t type = 0; type < TYPES; type++) {
        start_type(&p[type], type);
        pipeline_run(&p[type], 3);
        assert_int_equal(p[type].plan->general_counters, counters[type]);
        for (size_t scope = 0; scope < p[type].layout->n_scopes; scope++)
            assert_gauges_true(&p[type], scope, 1e-6);
        assert_totals_true(&p[type], 0, 1e-6);
    }
    // 36 % of the slots of one, 30 % of the other's: nobody's are the other's, or the mean
    assert_near(pipeline_gauge(&p[BIG], 0, "retiring_ratio"), 0.36, 0.01, "of the larger cores");
    assert_near(pipeline_gauge(&p[SMALL], 0, "retiring_ratio"), 0.30, 0.01, "of the smaller cores");
    for (size_t type = 0; type < TYPES; type++)
        pipeline_stop(&p[type]);
}

static void test_a_pmu_counts_on_no_cpu_of_another_type(void **state) {
    (void)state;
    struct pipeline p[TYPES];
    for (size_t type = 0; type < TYPES; type++) {
        start_type(&p[type], type);
        pipeline_run(&p[type], 2);
        struct pmu *pmu = p[type].recorder.inner;
        const struct pmu_event event = {.config = p[type].catalog->events[1].code.config};
        for (unsigned cpu = 0; cpu < CPUS; cpu++) {
            int handle = pmu->ops->open(pmu, cpu, &event, 1);
            if (has_cpu(&p[type], cpu)) {
                assert_true(handle >= 0);
                pmu->ops->close(pmu, handle);
            } else {
                assert_int_equal(handle, -ENOENT);
            }
        }
        size_t n_opened = 0;
        for (size_t i = 0; i < p[type].recorder.n_calls; i++)
            if (p[type].recorder.calls[i].kind == CALL_OPEN) {
                assert_true(has_cpu(&p[type], p[type].recorder.cpu_of[p[type].recorder.calls[i].handle]));
                n_opened++;
            }
        assert_true(n_opened > 0);
        pipeline_stop(&p[type]);
    }
}

static void test_a_type_whose_groups_cannot_be_opened_costs_only_itself(void **state) {
    (void)state;
    struct pipeline p[TYPES];
    for (size_t type = 0; type < TYPES; type++) {
        pipeline_load_type(&p[type], SCENARIO, type);
        if (type == BIG)
            pipeline_add_rival(&p[type], RIVAL_REFUSE, 0);
        pipeline_start(&p[type], SECOND_NS / 5, 7, GROUPS);
        pipeline_run(&p[type], 2);
    }
    for (size_t m = 0; m < p[BIG].layout->n_metrics; m++)
        assert_true(isnan(p[BIG].snapshot->values[snapshot_metric(p[BIG].layout, 0, m)]));
    assert_true(pipeline_windows(&p[BIG], WINDOW_FAILED) > 0);
    assert_gauges_true(&p[SMALL], 0, 1e-6);
    assert_true(pipeline_windows(&p[SMALL], WINDOW_FAILED) == 0);
    for (size_t type = 0; type < TYPES; type++)
        pipeline_stop(&p[type]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cpu_is_of_one_type_and_none_is_excluded),
        cmocka_unit_test(test_each_type_has_its_own_counters_and_true_values),
        cmocka_unit_test(test_a_pmu_counts_on_no_cpu_of_another_type),
        cmocka_unit_test(test_a_type_whose_groups_cannot_be_opened_costs_only_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
