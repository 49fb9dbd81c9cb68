// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_SPEC_CHECK_H
#define TOPDOWND_TESTS_SIMULATION_SPEC_CHECK_H

// A simulated host of a CPU that a spec ships for: its counters, their masks, its fixed counters and the registers that
// SMT siblings share. All metric groups of the spec are planned and run; every event group must get its counters at
// once, and every metric come out as its formula says of what truly happened. Making such a plan takes seconds in a
// debug build, so that the specs are shared out over several programs.

#include "tests/simulation/pipeline.h"

#define SPEC_SLOT_NS (SECOND_NS / 5)

enum { SPEC_ROUNDS = 2 };

// The watchdog holds a fixed counter on every CPU, pinned.
static inline void spec_load(struct pipeline *p, const char *spec, bool watchdog) {
    pipeline_load_spec(p, spec, 20260101);
    p->nmi_watchdog = watchdog && p->catalog->watchdog_event >= 0;
    if (p->nmi_watchdog)
        pipeline_add_rival(p, RIVAL_PINNED, 0)->cycles = true;
}

// What derive cannot do yet: metrics of metrics, and what needs the resident group, at all; duration_time and
// #core_wide.
static inline bool is_catalog_derived(const struct catalog *catalog) {
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].formula->n_metrics > 0)
            return false;
    return catalog->n_resident == 0;
}

static inline bool is_derived(const struct catalog *catalog, const struct formula *formula) {
    for (size_t i = 0; i < formula->n_variables; i++)
        if (catalog->events[formula->variables[i]].kind > EVENT_CPU_SECONDS)
            return false;
    return true;
}

// On a steady load every event counts its rate times the window, and the resident group's window is the same slot's.
static inline void assert_windows_true(const struct pipeline *p) {
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

static inline void assert_gauges_are_formulas(const struct pipeline *p, size_t scope) {
    for (size_t m = 0; m < p->plan->n_metrics; m++) {
        const struct catalog_metric *metric = &p->catalog->metrics[p->plan->metrics[m].metric];
        double truth = pipeline_truth(p, scope, m, p->snapshot->start_ns, p->snapshot->end_ns);
        double value = p->snapshot->values[snapshot_metric(p->layout, scope, m)];
        if (p->plan->metrics[m].unit == PLAN_NOT_PLANNABLE)
            assert_true(isnan(value));
        else if (is_derived(p->catalog, metric->formula) &&
                 (!isfinite(truth) || !(fabs(value - truth) <= 1e-9 * fabs(truth) + 1e-12)))
            fail_msg("%s: %s is %.17g, should be %.17g", p->catalog->product.spec, metric->name, value, truth);
    }
}

static inline void assert_all_complete(const struct pipeline *p) {
    const struct readings *readings = sampler_readings(p->sampler);
    assert_true(readings->n_windows > 0);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        if (window->result != WINDOW_COMPLETE)
            fail_msg("%s: event group %s is %s", p->catalog->product.spec, p->plan->groups[window->group].name,
                     window_result_name(window->result));
    }
}

static inline void spec_run(const char *spec, bool watchdog) {
    struct pipeline p;
    spec_load(&p, spec, watchdog);
    p.raw = !is_catalog_derived(p.catalog);
    pipeline_start(&p, SPEC_SLOT_NS, 1, NULL);
    for (unsigned round = 0; round < SPEC_ROUNDS; round++) {
        pipeline_run(&p, 1);
        assert_all_complete(&p);
        assert_windows_true(&p);
        for (size_t scope = 0; !p.raw && scope < p.layout->n_scopes; scope++)
            assert_gauges_are_formulas(&p, scope);
    }
    pipeline_stop(&p);
}

#endif
