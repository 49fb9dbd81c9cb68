// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_SPEC_CHECK_H
#define TOPDOWND_TESTS_SIMULATION_SPEC_CHECK_H

// A simulated host of a CPU with a shipped spec: its counters, their masks, its fixed counters and the registers that
// SMT siblings share. All metric groups of the spec are planned and run; every event group must get its counters at
// once, and every metric must have its formula's value for the true counts. Making such a plan takes seconds in a debug
// build, so the specs are distributed over several programs.

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

// Where the PMU has topdown counters of its own, their leader is first in every group that rotates.
static inline void assert_groups_led(const struct pipeline *p) {
    assert_true((p->plan->common_unit >= 0) == (p->catalog->n_topdown > 0));
    for (size_t g = 0; g < plan_n_rotating(p->plan) && p->catalog->n_topdown > 0; g++)
        assert_int_equal(p->plan->groups[g].events[0], p->catalog->topdown[0]);
}

// On a steady load every event counts its rate times the window. Only slots last whole tenths of a second, so in
// windows of what counts all the time a fraction of a count is not there yet.
static inline void assert_windows_true(const struct pipeline *p) {
    const struct readings *readings = sampler_readings(p->sampler);
    for (size_t i = 0; i < readings->n_windows; i++) {
        const struct window *window = &readings->windows[i];
        const struct plan_group *group = &p->plan->groups[window->group];
        for (size_t e = 0; e < group->n_events; e++) {
            double truth =
                pmu_sim_truth(p->recorder.inner, 0, group->events[e], EPOCH_NS, EPOCH_NS + window->enabled_ns);
            double fraction = plan_group_stands(p->plan, window->group) ? 1 / truth : 0;
            assert_near((double)window->counts[e], truth, 1e-9 + fraction, p->catalog->events[group->events[e]].name);
        }
    }
}

// Where the formula divides zero by zero on this load, the metric is undefined, and said to be.
static inline bool is_gauge_formula(const struct pipeline *p, size_t scope, size_t metric, double truth) {
    int unit = p->plan->metrics[metric].unit;
    double relative = unit >= 0 && plan_unit_stands(p->plan, (unsigned)unit) ? 1e-6 : 1e-9; // fractions of counts
    double value = p->snapshot->values[snapshot_metric(p->layout, scope, metric)];
    enum absent absent = (enum absent)p->snapshot->absent[snapshot_state(p->layout, scope, metric)];
    if (p->plan->metrics[metric].unit == PLAN_NOT_PLANNABLE)
        return isnan(value) && absent == ABSENT_NOT_PLANNABLE;
    if (isnan(truth))
        return isnan(value) && absent == ABSENT_UNDEFINED;
    return absent == ABSENT_NOT && (value == truth || fabs(value - truth) <= relative * fabs(truth) + 1e-12);
}

static inline void assert_gauges_are_formulas(const struct pipeline *p, size_t scope) {
    size_t undefined = 0, planned = 0;
    for (size_t m = 0; m < p->plan->n_metrics; m++) {
        double truth = pipeline_truth(p, scope, m, p->snapshot->start_ns, p->snapshot->end_ns);
        if (!is_gauge_formula(p, scope, m, truth))
            fail_msg("%s: %s is %.17g, should be %.17g", p->catalog->product.spec,
                     p->catalog->metrics[p->plan->metrics[m].metric].name,
                     p->snapshot->values[snapshot_metric(p->layout, scope, m)], truth);
        planned += p->plan->metrics[m].unit != PLAN_NOT_PLANNABLE;
        undefined += p->plan->metrics[m].unit != PLAN_NOT_PLANNABLE && isnan(truth);
    }
    assert_true(planned > 0 && undefined <= planned / 10);
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

// The different values of a register that the event groups ask for which are on, of a core's CPUs or of all (-1).
static inline size_t count_register_values(const struct pipeline *p, const bool *on, int core, unsigned reg) {
    uint64_t seen[EVENT_COUNTERS_MAX];
    size_t n = 0;
    size_t groups = p->plan->n_groups;
    for (size_t handle = 0; handle < p->topology->n_cpus * groups; handle++) {
        const struct plan_group *group = &p->plan->groups[handle % groups]; // opened CPU by CPU in order
        if (!on[handle] || (core >= 0 && (int)p->topology->cpus[p->recorder.cpu_of[handle]].core != core))
            continue;
        for (size_t e = 0; e < group->n_events; e++) {
            const struct event_need *need = &p->catalog->events[group->events[e]].need;
            size_t i = 0;
            while (i < n && seen[i] != need->reg_value)
                i++;
            if (need->reg == reg && i == n && n < EVENT_COUNTERS_MAX)
                seen[n++] = need->reg_value;
        }
    }
    return n;
}

// SMT siblings share the registers: at no moment, at no step of a slot edge, is more asked of a core than it holds.
static inline void assert_registers_hold(const struct pipeline *p) {
    bool on[HANDLES_MAX] = {false};
    for (size_t i = 0; i < p->recorder.n_calls; i++) {
        const struct call *call = &p->recorder.calls[i];
        if (call->kind == CALL_ENABLE || call->kind == CALL_DISABLE)
            on[call->handle] = call->kind == CALL_ENABLE;
        if (call->kind != CALL_ENABLE)
            continue;
        int core = (int)p->topology->cpus[p->recorder.cpu_of[call->handle]].core;
        for (unsigned reg = 1; reg <= p->catalog->n_registers; reg++)
            if (count_register_values(p, on, core, reg) > p->catalog->registers[reg - 1].values)
                fail_msg("%s: core %d is asked for more values of %s than it holds", p->catalog->product.spec, core,
                         p->catalog->registers[reg - 1].term);
    }
}

static inline void spec_rounds(struct pipeline *p) {
    pipeline_start(p, SPEC_SLOT_NS, 1, NULL);
    assert_groups_led(p);
    for (unsigned round = 0; round < SPEC_ROUNDS; round++) {
        pipeline_run(p, 1);
        assert_all_complete(p);
        assert_windows_true(p);
        for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
            assert_gauges_are_formulas(p, scope);
    }
    assert_registers_hold(p);
}

static inline void spec_run(const char *spec, bool watchdog) {
    struct pipeline p;
    spec_load(&p, spec, watchdog);
    spec_rounds(&p);
    pipeline_stop(&p);
}

#endif
