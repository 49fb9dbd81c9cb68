// SPDX-License-Identifier: Apache-2.0
#include "bench/error_bars/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy/counters.h"
#include "collectors/pmu/sampler.h"
#include "core/plan/schedule.h"
#include "core/tally/derive.h"
#include "daemon/measure/collected.h"
#include "daemon/measure/session.h"

static const double NS = 1e-9, ROUND_MAX = 2, SLOT_NS_MIN = 20e6; // as in daemon/measure/quick_setup.c
static const double OTHER_PART = 0.1;
static const char *const GROUPS[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
enum { N_GROUPS = sizeof GROUPS / sizeof *GROUPS };

static void *array(size_t n, size_t size) {
    void *made = calloc(n + 1, size);
    if (!made)
        abort();
    return made;
}

static int group_of(const struct catalog *catalog, const char *name) {
    int group = catalog_find_group(catalog, name);
    if (group < 0) {
        (void)fprintf(stderr, "bench_error_bars: there is no metric group %s\n", name);
        exit(EXIT_FAILURE);
    }
    return group;
}

// ---- the plan ----

struct wanted {
    const struct catalog *catalog;
    double seconds;
    unsigned threads;
};

// As fit_rounds in daemon/measure/quick_setup.c: as many times all event groups as fit into a round, in slots that fill
// it.
static struct plan *make_plan(const void *context) {
    const struct wanted *wanted = context;
    struct plan_selection selections[N_GROUPS];
    for (size_t i = 0; i < N_GROUPS; i++)
        selections[i] = (struct plan_selection){.group = (unsigned)group_of(wanted->catalog, GROUPS[i])};
    struct plan_request request = {.catalog = wanted->catalog,
                                   .general_counters = wanted->catalog->general_counters,
                                   .selections = selections,
                                   .n_selections = N_GROUPS,
                                   .smt_at_boot = wanted->threads > 1,
                                   .round_least_ns = 1,
                                   .idle = 0.1};
    struct plan *plan;
    if (schedule_make_plan(&request, HOST_CORES, 1, &plan) < 0)
        abort();
    double wanted_ns = fmin(wanted->seconds / SESSION_ROUNDS, ROUND_MAX) / NS, round_ns = (double)plan->round_ns;
    double times = fmax(floor(wanted_ns / round_ns), 1);
    double slot_ns = fmax((double)plan->slot_ns * wanted_ns / times / round_ns, SLOT_NS_MIN);
    double busy_ns = (round_ns - (double)plan->idle_ns) * slot_ns / (double)plan->slot_ns;
    request.slot_ns = (uint64_t)slot_ns;
    request.round_least_ns = (uint64_t)(busy_ns * (times - 0.5));
    plan_free(plan);
    if (plan_new(&request, &plan) < 0)
        abort();
    return plan;
}

static struct topology *make_topology(unsigned threads) {
    struct topology_source sources[HOST_CORES * 2];
    struct topology *topology;
    unsigned n = HOST_CORES * threads, each = n / HOST_SOCKETS;
    for (unsigned i = 0; i < n; i++)
        sources[i] = (struct topology_source){i, (int)(i / threads), (int)(i / each), true};
    if (topology_new(sources, n, 0, &topology) < 0)
        abort();
    return topology;
}

static enum host_class class_of(const struct snapshot_layout *layout, size_t metric) {
    const struct catalog *catalog = layout->catalog;
    const struct catalog_group *mpki = &catalog->groups[group_of(catalog, "MPKI")];
    unsigned named = layout->plan->metrics[metric].metric;
    if (layout->plan->metrics[metric].unit == PLAN_NOT_PLANNABLE || layout->plan->metrics[metric].auxiliary)
        return HOST_CLASSES;
    if (snapshot_category_of(layout, metric) < layout->n_level1)
        return HOST_LEVEL1;
    if (strcmp(catalog->metrics[named].export_name, "ipc") == 0)
        return HOST_IPC;
    for (size_t i = 0; i < mpki->n_metrics; i++)
        if (mpki->metrics[i] == named)
            return HOST_MPKI;
    return HOST_CLASSES;
}

void host_init(struct host *host, const struct catalog *catalog, const double *rates, double seconds,
               unsigned threads) {
    struct plan *plan = make_plan(&(struct wanted){catalog, seconds, threads});
    struct snapshot_layout *layout = snapshot_layout_new(plan, make_topology(threads));
    if (!layout)
        abort();
    *host = (struct host){.setting = {.layouts = {layout},
                                      .plan = layout->plan,
                                      .n_cpus = HOST_CORES * threads,
                                      .n_counters = plan->general_counters,
                                      .siblings = threads,
                                      .rates = rates,
                                      .seconds = seconds},
                          .seconds = seconds,
                          .classes = array(layout->n_metrics, sizeof *host->classes)};
    for (size_t m = 0; m < layout->n_metrics; m++)
        host->classes[m] = class_of(layout, m);
}

void host_deinit(struct host *host) {
    free(host->classes);
    setting_deinit(&host->setting);
}

size_t host_n_scopes(const struct host *host) { return host->setting.layouts[0]->n_scopes; }

enum host_scope host_scope_of(const struct host *host, size_t scope) {
    (void)host;
    return scope == 0 ? HOST_ALL : scope <= HOST_SOCKETS ? HOST_SOCKET : HOST_CPU;
}

// ---- a run ----

struct run {
    const struct host *host;
    struct trial trial;
    struct counters *counters;
    struct sampler *sampler;
    struct derive *derive;
    struct collected *collected;
    struct view *view;
    double *whole, *last; // [cpu][value of a row]: what truly happened in the measurement, in the last snapshot
    double *sums, *is;    // [value of a row], [metric]: of one scope
    uint64_t now_ns, deadline_ns;
};

// Each run does work of its own: a mix is a bit of another one. A mix of mixes keeps what adds up, so that level 1 by
// its formulas is the same as by its pipeline slots.
static void draw_rates(struct trial *t, uint64_t seed) {
    static const unsigned others[MIX_N] = {MIX_DATABASE, MIX_BATCH, MIX_WEB, MIX_IDLE, MIX_SLEEP};
    uint64_t state = ~seed;
    for (size_t mix = 0; mix < MIX_N; mix++) {
        double part = OTHER_PART * load_uniform(&state);
        const double *own = t->setting->rates + mix * t->n_events,
                     *other = t->setting->rates + others[mix] * t->n_events;
        for (size_t e = 0; e < t->n_events; e++)
            t->rates[mix * t->n_events + e] = own[e] + part * (other[e] - own[e]);
    }
}

static void begin(struct run *run, const struct host *host, const struct load_kind *kind, uint64_t seed) {
    struct snapshot_layout *layout = host->setting.layouts[0];
    uint64_t interval_ns = (uint64_t)(fmin(host->seconds / SESSION_ROUNDS, ROUND_MAX) / NS);
    *run = (struct run){.host = host, .now_ns = COUNTERS_EPOCH_NS, .deadline_ns = COUNTERS_EPOCH_NS};
    trial_begin(&run->trial, &host->setting, kind, host->seconds + 2 * ROUND_MAX, seed);
    draw_rates(&run->trial, seed);
    run->counters = counters_new(&run->trial);
    run->derive = derive_new(layout);
    run->collected = collected_new(false);
    if (run->derive)
        derive_tell_many(run->derive);
    run->view = view_new(&(struct view){.layout = layout, .interval_ns = interval_ns});
    struct sampler_request request = {.plan = layout->plan,
                                      .topology = layout->topology,
                                      .pmu = &run->counters->pmu,
                                      .busy_clock = &run->counters->busy_clock,
                                      .interval_ns = interval_ns,
                                      .seed = seed};
    if (!run->derive || !run->collected || !run->view || sampler_new(&request, &run->sampler) < 0)
        abort();
    size_t n_values = run->trial.rows->n_values;
    run->whole = array(run->trial.n_cpus * n_values, sizeof *run->whole);
    run->last = array(run->trial.n_cpus * n_values, sizeof *run->last);
    run->sums = array(n_values, sizeof *run->sums);
    run->is = array(layout->n_metrics, sizeof *run->is);
}

static void end(struct run *run) {
    void *arrays[] = {run->is, run->sums, run->last, run->whole};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    sampler_free(run->sampler);
    view_unref(run->view);
    collected_free(run->collected);
    derive_free(run->derive);
    counters_free(run->counters);
    trial_end(&run->trial);
}

// What truly happened in the snapshot's time: the rounds of all cores end with it.
static void take_truth(struct run *run, const struct snapshot *snapshot) {
    size_t n = run->trial.n_cpus * run->trial.rows->n_values;
    memset(run->last, 0, n * sizeof *run->last);
    for (size_t cpu = 0; cpu < run->trial.n_cpus; cpu++)
        counters_truth(run->counters, cpu, (double)(snapshot->start_ns - COUNTERS_EPOCH_NS) * NS,
                       (double)(snapshot->end_ns - COUNTERS_EPOCH_NS) * NS,
                       run->last + cpu * run->trial.rows->n_values);
    for (size_t i = 0; i < n; i++)
        run->whole[i] += run->last[i];
}

// True if the measurement is over.
static bool take(struct run *run, struct snapshot *snapshot) {
    double ended = (double)(snapshot->end_ns - COUNTERS_EPOCH_NS) * NS,
           span = (double)(snapshot->end_ns - snapshot->start_ns) * NS;
    if (snapshot->within_round)
        abort(); // truth would be of another time
    take_truth(run, snapshot);
    if (collected_take(run->collected, run->view, snapshot) < 0)
        abort();
    return ended + span / 2 >= run->host->seconds;
}

static struct snapshot *step(struct run *run) {
    run->now_ns = run->deadline_ns;
    if (sampler_step(run->sampler, run->now_ns, &run->deadline_ns) == 0)
        return NULL;
    struct snapshot *snapshot = snapshot_new(run->host->setting.layouts[0]);
    if (!snapshot)
        abort();
    derive_round(run->derive, sampler_readings(run->sampler), snapshot);
    return snapshot;
}

static bool is_unknown(enum estimate_doubt doubt) {
    return doubt != ESTIMATE_SURE && doubt != ESTIMATE_ROUNDED && doubt != ESTIMATE_VARIES;
}

static struct host_item judge(const struct snapshot *snapshot, size_t scope, size_t metric, double truth,
                              bool is_share) {
    const struct snapshot_layout *layout = snapshot->layout;
    double value = snapshot->values[snapshot_metric(layout, scope, metric)];
    double half = snapshot->values[snapshot_high(layout, scope, metric)] - value, unit = is_share ? 1 : truth;
    struct host_item item = {(float)(fabs(value - truth) / unit), (float)(half / unit), HOST_SHOWN};
    if (isnan(value) || isnan(truth))
        item.state = HOST_NO_VALUE;
    else if (isnan(half))
        item.state = HOST_ABSENT;
    else if (snapshot_quality(snapshot, snapshot_state(layout, scope, metric)) == ESTIMATE_POOR)
        item.state =
            is_unknown(snapshot_doubt(snapshot, snapshot_state(layout, scope, metric))) ? HOST_UNKNOWN : HOST_POOR;
    return item;
}

static void judge_all(struct run *run, const struct snapshot *snapshot, const double *truth, struct host_item *out) {
    const struct snapshot_layout *layout = snapshot->layout;
    struct scopes *scopes = scopes_new(layout->topology);
    size_t n_values = run->trial.rows->n_values;
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        struct scope_cpus in = scopes_cpus(scopes, scope);
        memset(run->sums, 0, n_values * sizeof *run->sums);
        for (size_t c = 0; c < in.n; c++)
            for (size_t i = 0; i < n_values; i++)
                run->sums[i] += truth[in.cpus[c] * n_values + i];
        trial_evaluate(&run->trial, run->sums, run->is);
        for (size_t m = 0; m < layout->n_metrics; m++)
            out[scope * layout->n_metrics + m] =
                judge(snapshot, scope, m, run->is[m], run->host->classes[m] == HOST_LEVEL1);
    }
    scopes_free(scopes);
}

void host_run(const struct host *host, const struct load_kind *kind, uint64_t seed, struct host_item *whole,
              struct host_item *last) {
    struct run run;
    struct snapshot *snapshot = NULL;
    bool over = false;
    begin(&run, host, kind, seed);
    while (!over) {
        struct snapshot *next = step(&run);
        if (!next)
            continue;
        snapshot_unref(snapshot);
        snapshot = next;
        over = take(&run, snapshot);
    }
    struct view *view;
    struct snapshot *result = collected_result(run.collected, &view);
    if (!result)
        abort();
    judge_all(&run, result, run.whole, whole);
    judge_all(&run, snapshot, run.last, last);
    snapshot_unref(result);
    snapshot_unref(snapshot);
    end(&run);
}
