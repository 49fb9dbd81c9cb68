// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"
#include "core/counts/core_slots.h"

// ---- the recorder ----

static struct recorder *of(struct pmu *pmu) { return (struct recorder *)pmu; }

static void record(struct recorder *r, enum call_kind kind, int handle, size_t n_events) {
    if (r->n_calls < CALLS_MAX)
        r->calls[r->n_calls++] = (struct call){kind, handle, r->now_ns, n_events};
}

static void recorder_advance(struct pmu *pmu, uint64_t now_ns) {
    of(pmu)->now_ns = now_ns;
    of(pmu)->inner->ops->advance(of(pmu)->inner, now_ns - of(pmu)->jumped_ns);
}

static int refused(struct recorder *r, unsigned cpu) {
    r->n_fallible++;
    if (r->n_fallible < r->fail_from || r->n_fallible >= r->fail_until)
        return 0;
    r->failed_cpu = cpu;
    return r->fail_error;
}

static int recorder_open(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    struct recorder *r = of(pmu);
    int error = refused(r, cpu);
    if (error < 0)
        return error;
    for (size_t i = 0; i < n; i++)
        if (r->refused_config != 0 && events[i].config == r->refused_config)
            return -EINVAL;
    int handle = r->inner->ops->open(r->inner, cpu, events, n);
    if (handle >= 0) {
        assert_true(handle < HANDLES_MAX);
        r->cpu_of[handle] = cpu;
        r->n_events_of[handle] = n;
        r->open[handle] = true;
        pmu->n_events += n;
        r->enabled[handle] = false;
        r->n_open++;
        record(r, CALL_OPEN, handle, n);
    }
    return handle;
}

static int recorder_enable(struct pmu *pmu, int handle, bool enabled) {
    struct recorder *r = of(pmu);
    int error = refused(r, r->cpu_of[handle]);
    if (error < 0)
        return error;
    record(r, enabled ? CALL_ENABLE : CALL_DISABLE, handle, 0);
    r->enabled[handle] = enabled;
    return r->inner->ops->enable(r->inner, handle, enabled);
}

static int recorder_read(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    struct recorder *r = of(pmu);
    int error = refused(r, r->cpu_of[handle]);
    if (error < 0)
        return error;
    record(r, CALL_READ, handle, 0);
    error = r->inner->ops->read(r->inner, handle, times, counts, n);
    bool is_short = r->short_every > 0 && ++r->n_reads % r->short_every == 0;
    for (size_t i = 0; is_short && i < n; i++)
        counts[i] -= UINT64_C(1) << 32;
    return error;
}

static void recorder_close(struct pmu *pmu, int handle) {
    struct recorder *r = of(pmu);
    assert_true(r->open[handle]);
    record(r, CALL_CLOSE, handle, r->n_events_of[handle]);
    r->open[handle] = false;
    pmu->n_events -= r->n_events_of[handle];
    r->n_open--;
    r->inner->ops->close(r->inner, handle);
}

static void recorder_free(struct pmu *pmu) { of(pmu)->inner->ops->free(of(pmu)->inner); }

void recorder_init(struct recorder *r, struct pmu *inner) {
    static const struct pmu_ops ops = {.advance = recorder_advance,
                                       .open = recorder_open,
                                       .enable = recorder_enable,
                                       .read = recorder_read,
                                       .close = recorder_close,
                                       .free = recorder_free};
    r->pmu.ops = &ops;
    r->inner = inner;
    r->calls = calloc(CALLS_MAX, sizeof *r->calls);
    assert_non_null(r->calls);
}

// ---- the pipeline ----

// Keeps one of the core types.
static struct scenario *take_type(struct scenario *first, size_t type) {
    struct scenario **at = &first;
    for (size_t i = 0; i < type; i++) {
        assert_non_null(*at);
        at = &(*at)->next;
    }
    struct scenario *taken = *at;
    assert_non_null(taken);
    *at = taken->next;
    taken->next = NULL;
    scenario_free(first);
    return taken;
}

void pipeline_load(struct pipeline *p, const char *scenario) { pipeline_load_type(p, scenario, 0); }

void pipeline_load_type(struct pipeline *p, const char *scenario, size_t type) {
    char path[256];
    struct scenario *all;
    memset(p, 0, sizeof *p);
    int r = scenario_json_load(scenario, &p->errors, &all);
    if (r < 0)
        print_error("%s: %s\n", scenario, p->errors.items[0].text);
    assert_int_equal(r, 0);
    p->scenario = take_type(all, type);
    (void)snprintf(path, sizeof path, "specs/%s.json", p->scenario->spec);
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 1e9;
    assert_int_equal(spec_json_load(path, &environment, &p->errors, &p->catalog), 0);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    p->support = calloc(p->catalog->n_events, sizeof *p->support); // PLAN_SUPPORT_UNKNOWN
    assert_non_null(p->support);
}

// ---- a plan, and what follows from it ----

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

// Makes a plan for so many counters and goes on under it; what came before stays counted.
static void change_plan(struct pipeline *p, unsigned counters) {
    struct plan_request request = {.catalog = p->catalog,
                                   .general_counters = counters,
                                   .selections = p->selections,
                                   .n_selections = p->n_selections,
                                   .support = p->support,
                                   .nmi_watchdog = p->nmi_watchdog,
                                   .smt_at_boot = p->scenario->threads_per_core > 1,
                                   .slot_ns = p->slot_ns,
                                   .idle = 0.1,
                                   .raised = p->adapt ? adapt_raised(p->adapt) : NULL,
                                   .adaptive = p->adapt != NULL,
                                   .boxes = p->topology->boxes};
    struct plan *plan;
    assert_int_equal(plan_new(&request, &plan), 0);
    struct topology *topology = topology_copy(p->topology);
    assert_non_null(topology);
    struct snapshot_layout *layout = snapshot_layout_new(plan, topology); // owns both from here on
    assert_non_null(layout);
    struct derive *derive = derive_new(layout);
    assert_non_null(derive);
    if (p->derive)
        assert_int_equal(derive_continue(derive, p->derive), 0);
    struct diagnosis *diagnosis = diagnosis_new(layout);
    assert_non_null(diagnosis);
    if (p->diagnosis)
        diagnosis_continue(diagnosis, p->diagnosis);
    diagnosis_free(p->diagnosis);
    derive_free(p->derive);
    snapshot_layout_unref(p->layout);
    p->diagnosis = diagnosis;
    p->derive = derive;
    p->layout = layout;
    p->plan = layout->plan;
    p->n_plans++;
}

// So that most tests find in a snapshot what a round has counted.
static uint64_t interval_of(const struct pipeline *p) {
    bool few = p->layout->topology->n_cores < 2 * SCHEDULE_COHORT_CORES;
    if (p->whole_rounds)
        return 0;
    return p->interval_ns > 0 ? p->interval_ns : few ? p->plan->round_ns : PLAN_INTERVAL_NS;
}

static void start_sampler(struct pipeline *p) {
    assert_int_equal(
        sampler_new(&(struct sampler_request){.plan = p->plan,
                                              .topology = p->layout->topology,
                                              .pmu = &p->recorder.pmu,
                                              .busy_clock = p->busy_clock,
                                              .told_clock = p->tells_busy ? p->recorder.inner->busy_clock : NULL,
                                              .told_pause_ns = p->told_pause_ns,
                                              .guests = p->busy_clock && p->busy_clock->take_guests,
                                              .interval_ns = interval_of(p),
                                              .seed = p->seed,
                                              .first_round = p->next_round},
                    &p->sampler),
        0);
    p->deadline_ns = p->now_ns;
}

static void stop_sampler(struct pipeline *p) {
    p->next_round = sampler_next_round(p->sampler);
    p->sampler = sampler_free(p->sampler);
}

static void start_pmu(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups) {
    const char *unknown;
    struct pmu *pmu;
    p->n_selections = select_groups(p, groups, p->selections);
    p->slot_ns = slot_ns;
    p->seed = seed;
    p->now_ns = EPOCH_NS;
    assert_int_equal(pmu_sim_new(p->scenario, p->catalog, EPOCH_NS, &unknown, &pmu), 0);
    recorder_init(&p->recorder, pmu);
}

void pipeline_start(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups) {
    start_pmu(p, slot_ns, seed, groups);
    change_plan(p, p->scenario->general_counters);
    start_sampler(p);
}

// ---- following the counters, as daemon/engine/measure.c does ----

struct probe *pipeline_probe(const struct pipeline *p, struct pmu *pmu, uint64_t *now_ns) {
    bool *usable = calloc(p->catalog->n_events, sizeof *usable);
    assert_non_null(usable);
    for (size_t e = 0; e < p->catalog->n_events; e++)
        usable[e] = p->support[e] != PLAN_UNSUPPORTED;
    struct probe *probe;
    assert_int_equal(probe_new(p->catalog, usable, p->topology, pmu, &probe), 0);
    uint64_t deadline_ns;
    while (probe_step(probe, *now_ns, &deadline_ns) == 0)
        *now_ns = deadline_ns;
    free(usable);
    return probe;
}

static int find_counters(struct pipeline *p) {
    struct probe *probe = pipeline_probe(p, &p->recorder.pmu, &p->now_ns);
    int answer = probe_error(probe) < 0 ? probe_error(probe) : (int)probe_counters(probe);
    probe_free(probe);
    assert_int_equal(p->recorder.n_open, 0);
    return answer;
}

void pipeline_start_following(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups) {
    start_pmu(p, slot_ns, seed, groups);
    p->follows = true;
    follow_init(&p->follow, p->scenario->general_counters);
    int answer = find_counters(p);
    (void)follow_answer(&p->follow, answer, p->now_ns);
    change_plan(p, p->follow.counters);
    start_sampler(p);
}

static void follow_counters(struct pipeline *p) {
    follow_round(&p->follow, sampler_readings(p->sampler));
    if (!follow_should_probe(&p->follow, p->now_ns))
        return;
    stop_sampler(p);
    int answer = find_counters(p);
    if (follow_answer(&p->follow, answer, p->now_ns))
        change_plan(p, p->follow.counters);
    start_sampler(p);
}

// ---- following the bottleneck, likewise ----

void pipeline_adapt(struct pipeline *p) {
    assert_int_equal(adapt_new(p->catalog, p->selections, p->n_selections, &p->adapt), 0);
}

void pipeline_replan(struct pipeline *p) {
    stop_sampler(p);
    change_plan(p, p->plan->general_counters);
    start_sampler(p);
}

static void follow_bottleneck(struct pipeline *p) {
    if (adapt_round(p->adapt, p->diagnosis, p->snapshot))
        pipeline_replan(p);
}

// ---- running ----

// 0 may give way to no value: a total that has not moved is hidden when it turns out that it cannot.
static void assert_did_not_fall(double after, double before, const char *what, size_t index) {
    if (!(after >= before) && !isnan(before) && !(before == 0 && isnan(after)))
        fail_msg("%s %zu fell from %.17g to %.17g", what, index, before, after);
}

// Everything from the first total of a scope to its last, under whatever plan: they have the same layout.
static void assert_no_scope_fell(const struct snapshot *before, const struct snapshot *after) {
    const struct snapshot_layout *layout = after->layout;
    assert_int_equal(layout->scope_stride, before->layout->scope_stride);
    assert_int_equal(layout->cpu_stride, before->layout->cpu_stride);
    for (size_t scope = 0; scope < layout->n_scopes; scope++)
        for (size_t i = snapshot_numerator(layout, scope, 0); i <= snapshot_guest(layout, scope); i++)
            assert_did_not_fall(after->values[i], before->values[i], "value", i);
}

static void assert_no_event_group_fell(struct pipeline *p) {
    for (size_t g = 0; g < p->plan->n_groups; g++) {
        struct seen_group *seen = p->seen;
        while (seen < p->seen + p->n_seen && strcmp(seen->name, p->plan->groups[g].name) != 0)
            seen++;
        if (seen == p->seen + p->n_seen) {
            assert_true(p->n_seen++ < SEEN_MAX);
            *seen = (struct seen_group){0};
            (void)snprintf(seen->name, sizeof seen->name, "%s", p->plan->groups[g].name);
        }
        const double *totals = &p->snapshot->values[snapshot_windows(p->layout, g, 0)];
        for (size_t i = 0; i < WINDOW_RESULT_N + 2; i++)
            assert_did_not_fall(totals[i], seen->totals[i], seen->name, i);
        memcpy(seen->totals, totals, sizeof seen->totals);
    }
}

bool pipeline_step(struct pipeline *p, uint64_t late_ns) {
    p->now_ns = p->deadline_ns + late_ns;
    if (sampler_step(p->sampler, p->now_ns, &p->deadline_ns) == 0)
        return false;
    if (p->raw)
        return true;
    struct snapshot *snapshot = snapshot_new(p->layout), *before = p->snapshot;
    assert_non_null(snapshot);
    derive_round(p->derive, sampler_readings(p->sampler), snapshot);
    p->snapshot = snapshot;
    if (before)
        assert_no_scope_fell(before, snapshot);
    else
        p->start_ns = snapshot->start_ns;
    snapshot_unref(before);
    assert_no_event_group_fell(p);
    if (p->on_round)
        p->on_round(p, p->context);
    diagnosis_round(p->diagnosis, snapshot);
    if (p->follows)
        follow_counters(p);
    if (p->adapt)
        follow_bottleneck(p);
    return true;
}

void pipeline_run(struct pipeline *p, unsigned rounds) {
    while (rounds > 0)
        rounds -= pipeline_step(p, 0);
}

void pipeline_run_until(struct pipeline *p, double seconds) {
    while ((double)(p->now_ns - EPOCH_NS) < seconds * 1e9)
        pipeline_step(p, 0);
}

void pipeline_yield(struct pipeline *p, double seconds) {
    stop_sampler(p);
    assert_int_equal(p->recorder.n_open, 0);
    p->now_ns += (uint64_t)(seconds * 1e9);
    derive_pause(p->derive, p->now_ns, UNCOVERED_YIELDED);
    start_sampler(p);
}

void pipeline_end(struct pipeline *p) {
    p->snapshot = snapshot_unref(p->snapshot);
    p->sampler = sampler_free(p->sampler);
    assert_int_equal(p->recorder.n_open, 0);
    if (p->recorder.inner)
        p->recorder.pmu.ops->free(&p->recorder.pmu);
    free(p->recorder.calls);
    p->recorder = (struct recorder){0};
    p->diagnosis = diagnosis_free(p->diagnosis);
    p->derive = derive_free(p->derive);
    p->adapt = adapt_free(p->adapt);
    p->layout = snapshot_layout_unref(p->layout);
    p->plan = NULL;
    p->n_plans = p->n_seen = 0;
    p->next_round = 0;
}

void pipeline_stop(struct pipeline *p) {
    pipeline_end(p);
    free(p->support);
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

// The true counts of one CPU as a thread of its core.
static struct core_thread true_thread(const struct pipeline *p, size_t cpu, uint64_t from_ns, uint64_t to_ns) {
    const struct catalog_level1 *level1 = &p->catalog->level1;
    double *counts = calloc(p->catalog->n_events, sizeof *counts);
    struct core_thread thread;
    for (unsigned e = 1; e < p->catalog->n_events; e++)
        counts[e] = pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id, e, from_ns, to_ns);
    for (int i = 0; i < THREAD_SLOTS_N; i++)
        thread.slots[i] = formula_evaluate_known(level1->thread[i], counts, NULL);
    thread.contention = thread.slots[THREAD_SLOTS_ALL] *
                        formula_evaluate_known(p->catalog->metrics[level1->contention].formula, counts, NULL);
    free(counts);
    return thread;
}

// Adds a CPU's part of its core's pipeline slots. All CPUs of such a scenario run at one clock.
static void add_core_slots(const struct pipeline *p, size_t cpu, uint64_t from_ns, uint64_t to_ns, double *counts) {
    struct core_thread threads[4];
    struct core_share shares[4];
    struct core_clock clock = {0, INFINITY};
    size_t n = 0, own = 0;
    for (size_t c = 0; c < p->topology->n_cpus; c++) {
        if (p->topology->cpus[c].core != p->topology->cpus[cpu].core)
            continue;
        own = c == cpu ? n : own;
        threads[n] = true_thread(p, c, from_ns, to_ns);
        clock.usual = fmax(clock.usual, threads[n++].slots[THREAD_SLOTS_ALL]);
    }
    core_slots_divide(threads, n, &clock, shares);
    for (int i = 0; i < CORE_SLOTS_N; i++)
        if (p->catalog->core_slots[i] >= 0)
            counts[p->catalog->core_slots[i]] += shares[own].slots[i];
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
        if (p->catalog->level1.present && p->catalog->level1.per_thread)
            add_core_slots(p, cpu, from_ns, to_ns, counts);
    }
    for (unsigned e = 1; e < p->catalog->n_events; e++) // what does not add up over CPUs
        if (p->catalog->events[e].kind == EVENT_DURATION)
            counts[e] = (double)(to_ns - from_ns) * 1e-9;
        else if (p->catalog->events[e].kind == EVENT_CORE_WIDE)
            counts[e] = topology_whole_cores(p->topology, scope);
}

double pipeline_truth(const struct pipeline *p, size_t scope, size_t metric, uint64_t from_ns, uint64_t to_ns) {
    unsigned wanted = p->plan->metrics[metric].metric;
    double *counts = calloc(p->catalog->n_events, sizeof *counts);
    double *values = calloc(p->catalog->n_metrics, sizeof *values);
    true_counts(p, scope, from_ns, to_ns, counts);
    for (unsigned m = 0; m <= wanted; m++) // each comes after those that it uses
        values[m] = formula_evaluate_known(p->catalog->metrics[m].formula, counts, values);
    double value = values[wanted] * p->catalog->metrics[wanted].export_scale;
    free(values);
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

void assert_gauges_true(const struct pipeline *p, size_t scope, double relative) {
    const struct snapshot *snapshot = p->snapshot;
    const struct plan *plan = snapshot->layout->plan;
    for (size_t m = 0; m < snapshot_n_metrics(snapshot->layout, scope); m++) {
        double value = snapshot->values[snapshot_metric(snapshot->layout, scope, m)];
        if (plan->metrics[m].unit >= 0)
            assert_near(value, pipeline_truth(p, scope, m, snapshot->start_ns, snapshot->end_ns), relative,
                        p->catalog->metrics[plan->metrics[m].metric].name);
        else if (plan->metrics[m].unit != PLAN_COMBINED) // else it is made of those
            assert_true(isnan(value) &&
                        snapshot->absent[snapshot_state(snapshot->layout, scope, m)] == ABSENT_NOT_PLANNABLE &&
                        plan->metrics[m].reason[0] != '\0');
    }
}

void assert_gauges_absent(const struct pipeline *p, size_t scope, enum absent reason) {
    for (size_t m = 0; m < snapshot_n_metrics(p->layout, scope); m++) {
        assert_true(isnan(p->snapshot->values[snapshot_metric(p->layout, scope, m)]));
        assert_int_equal(p->snapshot->absent[snapshot_state(p->layout, scope, m)], reason);
    }
}

void assert_totals_true(const struct pipeline *p, size_t scope, double relative) {
    for (size_t m = 0; m < p->plan->n_metrics; m++) {
        const struct catalog_metric *metric = &p->catalog->metrics[p->plan->metrics[m].metric];
        if (!metric->formula->is_ratio)
            continue;
        const double *values = p->snapshot->values;
        assert_near(values[snapshot_numerator(p->layout, scope, m)],
                    pipeline_true_sum(p, scope, &metric->formula->numerator, p->start_ns, p->snapshot->end_ns),
                    relative, metric->name);
        assert_near(values[snapshot_denominator(p->layout, scope, m)],
                    pipeline_true_sum(p, scope, &metric->formula->denominator, p->start_ns, p->snapshot->end_ns),
                    relative, metric->name);
    }
}

void assert_all_accounted(const struct pipeline *p, double relative) {
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++) {
        size_t cpus = 0;
        for (size_t cpu = 0; cpu < p->topology->n_cpus; cpu++)
            cpus += in_scope(p, scope, cpu);
        double sum = p->snapshot->values[snapshot_covered(p->layout, scope)];
        for (unsigned reason = 0; reason < UNCOVERED_N; reason++)
            sum += p->snapshot->values[snapshot_uncovered(p->layout, scope, (enum uncovered)reason)];
        double elapsed = (double)(p->snapshot->end_ns - p->start_ns) * 1e-9;
        assert_near(sum, (double)cpus * elapsed, relative, "covered and uncovered time");
    }
}

double pipeline_windows(const struct pipeline *p, enum window_result result) {
    double n = 0;
    for (size_t g = 0; g < p->snapshot->layout->plan->n_groups; g++)
        n += p->snapshot->values[snapshot_windows(p->snapshot->layout, g, result)];
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
