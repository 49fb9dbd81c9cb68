// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// A simulated host of every CPU that a spec ships for: its counters, their masks, its fixed counters and the registers
// that SMT siblings share. All metric groups of the spec are planned and run; every event group must get its counters
// at once, and every metric come out as its formula says of what truly happened.

static const uint64_t SLOT_NS = SECOND_NS / 5;

static const char *const SPECS[] = {"amd-generic",
                                    "amd-zen",
                                    "armv8-pmuv3",
                                    "broadwell-ep",
                                    "c1-nano",
                                    "c1-premium",
                                    "c1-pro",
                                    "c1-ultra",
                                    "cascade-lake",
                                    "emerald-rapids",
                                    "granite-rapids",
                                    "haswell-ep",
                                    "ice-lake-sp",
                                    "intel-generic",
                                    "ivy-bridge-ep",
                                    "nehalem-ep",
                                    "neoverse-n1",
                                    "neoverse-n2-r0p3",
                                    "neoverse-n2",
                                    "neoverse-n3",
                                    "neoverse-v1",
                                    "neoverse-v2",
                                    "neoverse-v3",
                                    "sandy-bridge-ep",
                                    "sapphire-rapids",
                                    "sierra-forest",
                                    "skylake-sp",
                                    "westmere-ep",
                                    "zen2",
                                    "zen3",
                                    "zen4",
                                    "zen5"};

enum { N_SPECS = sizeof SPECS / sizeof SPECS[0], ROUNDS = 2 };

// The watchdog holds a fixed counter on every CPU, pinned.
static void load(struct pipeline *p, const char *spec, bool watchdog) {
    pipeline_load_spec(p, spec, 20260101);
    p->nmi_watchdog = watchdog && p->catalog->watchdog_event >= 0;
    if (p->nmi_watchdog)
        pipeline_add_rival(p, RIVAL_PINNED, 0)->cycles = true;
}

// What derive does not do yet: metrics of metrics, and what needs the resident group.
static bool is_derived(const struct plan *plan, const struct catalog_metric *metric) {
    (void)plan;
    return metric->formula->n_metrics == 0;
}

static bool is_catalog_derived(const struct catalog *catalog) {
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (!is_derived(NULL, &catalog->metrics[m]))
            return false;
    return catalog->n_resident == 0;
}

// On a steady load every event counts its rate times the window, and the resident group's window is the same slot's.
static void assert_windows_true(const struct pipeline *p) {
    const struct readings *readings = sampler_readings(p->sampler);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        const struct plan_group *group = &p->plan->groups[window->group];
        for (size_t e = 0; e < group->n_events; e++)
            assert_near((double)window->counts[e],
                        pmu_sim_truth(p->recorder.inner, 0, group->events[e], EPOCH_NS, EPOCH_NS + window->enabled_ns),
                        1e-9, p->catalog->events[group->events[e]].name);
        if (p->plan->resident_group < 0)
            continue;
        assert_int_equal((int)window->group == p->plan->resident_group, i % 2 == 0);
        assert_int_equal(window->cpu, readings->windows[i ^ 1].cpu);
        assert_true(window->enabled_ns == readings->windows[i ^ 1].enabled_ns);
    }
}

static void assert_gauges_are_formulas(const struct pipeline *p, size_t scope) {
    for (size_t m = 0; m < p->plan->n_metrics; m++) {
        const struct catalog_metric *metric = &p->catalog->metrics[p->plan->metrics[m].metric];
        double truth = pipeline_truth(p, scope, m, p->snapshot->start_ns, p->snapshot->end_ns);
        double value = p->snapshot->values[snapshot_metric(p->layout, scope, m)];
        if (p->plan->metrics[m].unit == PLAN_NOT_PLANNABLE)
            assert_true(isnan(value));
        else if (!isfinite(truth) || !(fabs(value - truth) <= 1e-9 * fabs(truth) + 1e-12))
            fail_msg("%s: %s is %.17g, should be %.17g", p->catalog->product.spec, metric->name, value, truth);
    }
}

static void assert_all_complete(const struct pipeline *p) {
    const struct readings *readings = sampler_readings(p->sampler);
    assert_true(readings->n_windows > 0);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        if (window->result != WINDOW_COMPLETE)
            fail_msg("%s: event group %s is %s", p->catalog->product.spec, p->plan->groups[window->group].name,
                     window_result_name(window->result));
    }
}

static void run_spec(const char *spec, bool watchdog) {
    struct pipeline p;
    load(&p, spec, watchdog);
    p.raw = !is_catalog_derived(p.catalog);
    pipeline_start(&p, SLOT_NS, 1, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pipeline_run(&p, 1);
        assert_all_complete(&p);
        assert_windows_true(&p);
        for (size_t scope = 0; !p.raw && scope < p.layout->n_scopes; scope++)
            assert_gauges_are_formulas(&p, scope);
    }
    pipeline_stop(&p);
}

static void test_every_event_group_of_every_cpu_gets_its_counters(void **state) {
    (void)state;
    for (size_t i = 0; i < N_SPECS; i++)
        for (int watchdog = 0; watchdog < 2; watchdog++)
            run_spec(SPECS[i], watchdog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_event_group_of_every_cpu_gets_its_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
