// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// ---- the recorder ----

static struct recorder *of(struct pmu *pmu) { return (struct recorder *)pmu; }

static void record(struct recorder *r, enum call_kind kind, int handle) {
    if (r->n_calls < CALLS_MAX)
        r->calls[r->n_calls++] = (struct call){kind, handle, r->now_ns};
}

static void recorder_advance(struct pmu *pmu, uint64_t now_ns) {
    of(pmu)->now_ns = now_ns;
    of(pmu)->inner->ops->advance(of(pmu)->inner, now_ns);
}

static int recorder_open(struct pmu *pmu, unsigned cpu, const uint64_t *configs, size_t n) {
    struct recorder *r = of(pmu);
    for (size_t i = 0; i < n; i++)
        if (r->refused_config != 0 && configs[i] == r->refused_config)
            return -EINVAL;
    int handle = r->inner->ops->open(r->inner, cpu, configs, n);
    if (handle >= 0) {
        assert_true(handle < HANDLES_MAX);
        r->cpu_of[handle] = cpu;
        r->open[handle] = true;
        record(r, CALL_OPEN, handle);
    }
    return handle;
}

static int recorder_enable(struct pmu *pmu, int handle, bool enabled) {
    record(of(pmu), enabled ? CALL_ENABLE : CALL_DISABLE, handle);
    of(pmu)->enabled[handle] = enabled;
    return of(pmu)->inner->ops->enable(of(pmu)->inner, handle, enabled);
}

static int recorder_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    record(of(pmu), CALL_READ, handle);
    return of(pmu)->inner->ops->read(of(pmu)->inner, handle, times, counts, n);
}

static void recorder_close(struct pmu *pmu, int handle) {
    record(of(pmu), CALL_CLOSE, handle);
    of(pmu)->open[handle] = false;
    of(pmu)->inner->ops->close(of(pmu)->inner, handle);
}

static void recorder_free(struct pmu *pmu) { of(pmu)->inner->ops->free(of(pmu)->inner); }

// ---- the pipeline ----

void pipeline_load(struct pipeline *p, const char *scenario) {
    char path[256];
    memset(p, 0, sizeof *p);
    int r = scenario_json_load(scenario, &p->errors, &p->scenario);
    if (r < 0)
        print_error("%s: %s\n", scenario, p->errors.items[0].text);
    assert_int_equal(r, 0);
    (void)snprintf(path, sizeof path, "specs/%s.json", p->scenario->spec);
    assert_int_equal(spec_json_load(path, &p->errors, &p->catalog), 0);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
}

static size_t select_groups(const struct pipeline *p, const char *const *groups, struct plan_selection *selections) {
    size_t n = 0;
    for (unsigned g = 0; !groups && g < p->catalog->n_groups && n < GROUPS_MAX; g++)
        selections[n++] = (struct plan_selection){.group = g};
    for (; groups && groups[n]; n++) {
        int group = catalog_find_group(p->catalog, groups[n]);
        assert_true(group >= 0);
        selections[n] = (struct plan_selection){.group = (unsigned)group};
    }
    return n;
}

void pipeline_start(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups) {
    static const struct pmu_ops ops = {.advance = recorder_advance,
                                       .open = recorder_open,
                                       .enable = recorder_enable,
                                       .read = recorder_read,
                                       .close = recorder_close,
                                       .free = recorder_free};
    struct plan_selection selections[GROUPS_MAX];
    struct plan_request request = {.catalog = p->catalog,
                                   .general_counters = p->scenario->general_counters,
                                   .selections = selections,
                                   .n_selections = select_groups(p, groups, selections),
                                   .slot_ns = slot_ns,
                                   .idle = 0.1};
    const char *unknown;
    assert_int_equal(plan_new(&request, &p->plan), 0);
    p->layout = snapshot_layout_new(p->plan, p->topology);
    p->derive = derive_new(p->layout);
    assert_non_null(p->layout);
    assert_non_null(p->derive);
    assert_int_equal(pmu_sim_new(p->scenario, p->catalog, EPOCH_NS, &unknown, &p->recorder.inner), 0);
    p->recorder.pmu.ops = &ops;
    p->recorder.calls = calloc(CALLS_MAX, sizeof *p->recorder.calls);
    assert_non_null(p->recorder.calls);
    assert_int_equal(sampler_new(p->plan, p->topology, &p->recorder.pmu, seed, &p->sampler), 0);
    p->now_ns = p->deadline_ns = EPOCH_NS;
}

// Everything from the first total to the last value of an event group only grows.
static void assert_nothing_fell(const struct pipeline *p, const struct snapshot *before, const struct snapshot *after) {
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
        for (size_t i = snapshot_numerator(p->layout, scope, 0); i < (scope + 1) * p->layout->scope_stride; i++)
            if (!(after->values[i] >= before->values[i]) && !(isnan(after->values[i]) && isnan(before->values[i])))
                fail_msg("scope %zu, value %zu fell from %.17g to %.17g", scope, i, before->values[i],
                         after->values[i]);
    for (size_t i = snapshot_windows(p->layout, 0, 0); i < snapshot_self(p->layout, 0); i++)
        assert_true(after->values[i] >= before->values[i]);
}

bool pipeline_step(struct pipeline *p, uint64_t late_ns) {
    p->now_ns = p->deadline_ns + late_ns;
    if (sampler_step(p->sampler, p->now_ns, &p->deadline_ns) == 0)
        return false;
    struct snapshot *snapshot = snapshot_new(p->layout);
    assert_non_null(snapshot);
    derive_round(p->derive, sampler_readings(p->sampler), snapshot);
    if (p->snapshot)
        assert_nothing_fell(p, p->snapshot, snapshot);
    snapshot_unref(p->snapshot);
    p->snapshot = snapshot;
    return true;
}

void pipeline_run(struct pipeline *p, unsigned rounds) {
    while (rounds > 0)
        rounds -= pipeline_step(p, 0);
}

void pipeline_stop(struct pipeline *p) {
    snapshot_unref(p->snapshot);
    sampler_free(p->sampler);
    for (int handle = 0; handle < HANDLES_MAX; handle++)
        assert_false(p->recorder.open[handle]);
    if (p->recorder.inner)
        p->recorder.pmu.ops->free(&p->recorder.pmu);
    free(p->recorder.calls);
    derive_free(p->derive);
    snapshot_layout_free(p->layout);
    plan_free(p->plan);
    topology_free(p->topology);
    catalog_free(p->catalog);
    scenario_free(p->scenario);
}

size_t pipeline_metric(const struct pipeline *p, const char *export_name) {
    for (size_t m = 0; m < p->plan->n_metrics; m++)
        if (strcmp(p->catalog->metrics[p->plan->metrics[m].metric].export_name, export_name) == 0)
            return m;
    fail_msg("no metric %s", export_name);
    return 0;
}

double pipeline_gauge(const struct pipeline *p, size_t scope, const char *export_name) {
    return p->snapshot->values[snapshot_metric(p->layout, scope, pipeline_metric(p, export_name))];
}

static bool in_scope(const struct pipeline *p, size_t scope, size_t cpu) {
    return scope == 0 || scope == snapshot_scope_socket(p->topology->cpus[cpu].socket) ||
           scope == snapshot_scope_cpu(p->layout, cpu);
}

static void true_counts(const struct pipeline *p, size_t scope, uint64_t from_ns, uint64_t to_ns, double *counts) {
    for (unsigned e = 0; e < p->catalog->n_events; e++)
        counts[e] = 0;
    for (size_t cpu = 0; cpu < p->topology->n_cpus; cpu++) {
        if (!in_scope(p, scope, cpu))
            continue;
        counts[CATALOG_CPU_SECONDS] += (double)(to_ns - from_ns) * 1e-9;
        for (unsigned e = 1; e < p->catalog->n_events; e++)
            counts[e] += pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id, e, from_ns, to_ns);
    }
}

double pipeline_truth(const struct pipeline *p, size_t scope, size_t metric, uint64_t from_ns, uint64_t to_ns) {
    const struct catalog_metric *m = &p->catalog->metrics[p->plan->metrics[metric].metric];
    double *counts = calloc(p->catalog->n_events, sizeof *counts);
    true_counts(p, scope, from_ns, to_ns, counts);
    double value = formula_evaluate(m->formula, counts) * m->export_scale;
    free(counts);
    return value;
}

double pipeline_true_sum(const struct pipeline *p, size_t scope, const struct formula_sum *sum, uint64_t from_ns,
                         uint64_t to_ns) {
    double *counts = calloc(p->catalog->n_events, sizeof *counts);
    true_counts(p, scope, from_ns, to_ns, counts);
    double value = formula_sum_evaluate(sum, counts);
    free(counts);
    return value;
}

double pipeline_uncovered(const struct pipeline *p, enum uncovered reason) {
    return p->snapshot->values[snapshot_uncovered(p->layout, 0, reason)];
}

double pipeline_windows(const struct pipeline *p, enum window_result result) {
    double n = 0;
    for (size_t g = 0; g < p->plan->n_groups; g++)
        n += p->snapshot->values[snapshot_windows(p->layout, g, result)];
    return n;
}

struct scenario_rival *pipeline_add_rival(struct pipeline *p, enum scenario_rival_kind kind, unsigned counters) {
    struct scenario *scenario = p->scenario;
    struct scenario_rival *rivals = realloc(scenario->rivals, (scenario->n_rivals + 1) * sizeof *rivals);
    assert_non_null(rivals);
    scenario->rivals = rivals;
    struct scenario_rival *rival = &rivals[scenario->n_rivals++];
    *rival = (struct scenario_rival){.kind = kind, .counters = counters};
    for (size_t cpu = 0; cpu < p->topology->n_cpus; cpu++)
        cpuset_add(&rival->cpus, p->topology->cpus[cpu].id);
    return rival;
}

void assert_near(double value, double truth, double relative, const char *what) {
    if (!(fabs(value - truth) <= relative * fabs(truth)))
        fail_msg("%s is %.17g, should be %.17g within %g", what, value, truth, relative);
}
