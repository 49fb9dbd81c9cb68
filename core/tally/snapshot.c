// SPDX-License-Identifier: Apache-2.0
#include "core/tally/snapshot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A scope's fields, with n_metrics those that it has: gauges (n_metrics of each of enum gauge, deviation, level-1
// error), then totals (n_metrics numerators, n_metrics denominators, n_level1 categories, pipeline slots, SMT
// contention, n_events events, covered, UNCOVERED_N uncovered, guest, busy). After all scopes: per event group
// WINDOW_RESULT_N windows, enabled, running; per event its troubles; per socket the CPUs offline and measured; the
// verdicts of host and sockets; the ages of the gauges; the one value of what CPUs lack.

enum { GROUP_STRIDE = WINDOW_RESULT_N + 2 };
enum { VERDICT_MORE = 4 }; // a verdict's values beside those of the metrics
enum gauge { GAUGE_VALUE, GAUGE_RATE, GAUGE_ERROR, GAUGE_LOW, GAUGE_HIGH, GAUGE_WINDOWS, GAUGE_SHARE, GAUGE_N };

const char *absent_text(enum absent reason) {
    static const char *const texts[ABSENT_N] = {
        "",
        "nothing has been measured yet",
        "not plannable on this host, see /api/v1/plan",
        "its event group never got the counters in this round: others hold them",
        "its event group could not be opened or read in this round",
        "its CPU is offline",
        "an event that it needs runs and has never counted",
        "an event that it needs has never counted, and something filters events here: what must count has not either",
        "the counters are handed over on request (topdownd yield)",
        "its formula divides by zero: nothing of what it is a share of happened in this round",
        "no snapshot has been made for a while: the daemon was stopped, hangs, or is overloaded",
    };
    return texts[reason];
}

const char *event_trouble_name(enum event_trouble trouble) {
    static const char *const names[EVENT_TROUBLE_N] = {"stalled", "filtered", "dead", "unsupported", "starved"};
    return names[trouble];
}

static size_t find_scope(const struct snapshot_layout *layout, size_t scope) {
    size_t n_shared = scope_of_cpu(layout->topology, 0);
    return scope < n_shared ? scope * layout->scope_stride
                            : n_shared * layout->scope_stride + (scope - n_shared) * layout->cpu_stride;
}

// A metric's place in an array of the scope's metrics that begins at `first`.
static size_t find_metric(const struct snapshot_layout *layout, size_t scope, size_t first, size_t metric) {
    bool lacks = metric >= snapshot_n_metrics(layout, scope) && metric < layout->n_metrics;
    return lacks ? layout->n_values - 1 : first + metric;
}

static size_t find_gauge(const struct snapshot_layout *layout, size_t scope, enum gauge gauge, size_t metric) {
    size_t first = find_scope(layout, scope) + (size_t)gauge * snapshot_n_metrics(layout, scope);
    return find_metric(layout, scope, first, metric);
}

size_t snapshot_metric(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_VALUE, metric);
}

size_t snapshot_rate_above(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_RATE, metric);
}

size_t snapshot_standard_error(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_ERROR, metric);
}

size_t snapshot_low(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_LOW, metric);
}

size_t snapshot_high(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_HIGH, metric);
}

size_t snapshot_metric_windows(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_WINDOWS, metric);
}

size_t snapshot_share_of_time(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_gauge(layout, scope, GAUGE_SHARE, metric);
}

size_t snapshot_deviation(const struct snapshot_layout *layout, size_t scope) {
    return find_scope(layout, scope) + GAUGE_N * snapshot_n_metrics(layout, scope);
}

size_t snapshot_level1_error(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_deviation(layout, scope) + 1;
}

static size_t first_total(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_level1_error(layout, scope) + 1;
}

size_t snapshot_numerator(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return find_metric(layout, scope, first_total(layout, scope), metric);
}

size_t snapshot_denominator(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    size_t first = first_total(layout, scope) + snapshot_n_metrics(layout, scope);
    return find_metric(layout, scope, first, metric);
}

size_t snapshot_category(const struct snapshot_layout *layout, size_t scope, size_t category) {
    return first_total(layout, scope) + 2 * snapshot_n_metrics(layout, scope) + category;
}

size_t snapshot_category_of(const struct snapshot_layout *layout, size_t metric) {
    size_t category = 0;
    while (category < layout->n_level1 &&
           layout->catalog->level1.categories[category].metric != layout->plan->metrics[metric].metric)
        category++;
    return category;
}

size_t snapshot_pipeline_slots(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_category(layout, scope, layout->n_level1);
}

size_t snapshot_contention(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_pipeline_slots(layout, scope) + 1;
}

size_t snapshot_event(const struct snapshot_layout *layout, size_t scope, size_t event) {
    return snapshot_contention(layout, scope) + 1 + event;
}

size_t snapshot_covered(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_event(layout, scope, layout->n_events);
}

size_t snapshot_uncovered(const struct snapshot_layout *layout, size_t scope, enum uncovered reason) {
    return snapshot_covered(layout, scope) + 1 + (size_t)reason;
}

size_t snapshot_guest(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_uncovered(layout, scope, UNCOVERED_N);
}

size_t snapshot_busy(const struct snapshot_layout *layout, size_t scope) { return snapshot_guest(layout, scope) + 1; }

size_t snapshot_windows(const struct snapshot_layout *layout, size_t group, enum window_result result) {
    return find_scope(layout, layout->n_scopes) + group * GROUP_STRIDE + (size_t)result;
}

size_t snapshot_enabled(const struct snapshot_layout *layout, size_t group) {
    return snapshot_windows(layout, group, WINDOW_RESULT_N);
}

size_t snapshot_running(const struct snapshot_layout *layout, size_t group) {
    return snapshot_windows(layout, group, WINDOW_RESULT_N) + 1;
}

size_t snapshot_trouble(const struct snapshot_layout *layout, size_t event, enum event_trouble trouble) {
    return snapshot_windows(layout, layout->plan->n_groups, 0) + event * EVENT_TROUBLE_N + (size_t)trouble;
}

size_t snapshot_offline(const struct snapshot_layout *layout, size_t socket) {
    return snapshot_trouble(layout, layout->n_events, 0) + 2 * socket;
}

size_t snapshot_measured(const struct snapshot_layout *layout, size_t socket) {
    return snapshot_offline(layout, socket) + 1;
}

size_t snapshot_verdict(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return snapshot_offline(layout, layout->topology->n_sockets) + scope * (layout->n_metrics + VERDICT_MORE) + metric;
}

size_t snapshot_verdict_since(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_verdict(layout, scope, layout->n_metrics + 1);
}

size_t snapshot_verdict_certain(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_verdict(layout, scope, layout->n_metrics + 2);
}

size_t snapshot_verdict_unseen(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_verdict(layout, scope, layout->n_metrics + 3);
}

size_t snapshot_gauges_begun(const struct snapshot_layout *layout) {
    return snapshot_verdict(layout, 1 + layout->topology->n_sockets, 0);
}

size_t snapshot_gauges_ended(const struct snapshot_layout *layout) { return snapshot_gauges_begun(layout) + 1; }

size_t snapshot_gauges_age(const struct snapshot_layout *layout) { return snapshot_gauges_begun(layout) + 2; }

static void mark(const struct formula *formula, bool *wanted) {
    for (size_t i = 0; i < formula->n_variables; i++)
        wanted[formula->variables[i]] = true;
}

// Finds the catalog events that the selected metrics need.
static int layout_events(struct snapshot_layout *layout) {
    const struct plan *plan = layout->plan;
    const struct catalog *catalog = layout->catalog;
    bool *wanted = calloc(catalog->n_events, sizeof *wanted);
    layout->events = calloc(catalog->n_events, sizeof *layout->events);
    if (!wanted || !layout->events) {
        free(wanted);
        return -ENOMEM;
    }
    for (size_t m = 0; m < plan->n_metrics; m++)
        mark(catalog->metrics[plan->metrics[m].metric].formula, wanted);
    if (plan->level1_selected) { // the categories are one unit, selected or not
        mark(catalog->level1.pipeline_slots, wanted);
        for (size_t i = 0; i < catalog->level1.n_metrics; i++)
            mark(catalog->metrics[catalog->level1.metrics[i]].formula, wanted);
        for (size_t i = 0; catalog->level1.per_thread && i < THREAD_SLOTS_N; i++)
            mark(catalog->level1.thread[i], wanted);
    }
    for (unsigned e = 0; e < catalog->n_events; e++)
        if (wanted[e] && catalog->events[e].kind == EVENT_COUNTED)
            layout->events[layout->n_events++] = e;
    free(wanted);
    return 0;
}

struct snapshot_layout *snapshot_layout_new(struct plan *plan, struct topology *topology) {
    struct snapshot_layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return NULL;
    layout->catalog = plan->catalog;
    layout->plan = plan;
    atomic_init(&layout->references, 1);
    if (layout_events(layout) < 0) {
        free(layout->events);
        free(layout);
        return NULL;
    }
    (void)catalog_share(layout->catalog);
    layout->topology = topology;
    layout->n_scopes = scope_count(topology);
    layout->n_metrics = plan->n_metrics;
    layout->n_cpu_metrics = plan_n_cpu_metrics(plan);
    layout->n_level1 = plan->level1_selected ? plan->catalog->level1.n_categories : 0;
    layout->scope_stride = snapshot_busy(layout, 0) + 1; // scope 0 starts at 0 for any stride
    layout->cpu_stride = layout->scope_stride - (GAUGE_N + 2) * (layout->n_metrics - layout->n_cpu_metrics);
    layout->n_values = snapshot_gauges_age(layout) + 2;
    return layout;
}

int snapshot_layout_place(const struct snapshot_layout *layout, const char *export_name) {
    for (size_t i = 0; i < layout->n_metrics; i++) {
        unsigned metric = catalog_metric_named(layout->catalog, layout->plan->metrics[i].metric);
        if (strcmp(layout->catalog->metrics[metric].export_name, export_name) == 0)
            return (int)i;
    }
    return -1;
}

struct snapshot_layout *snapshot_layout_ref(struct snapshot_layout *layout) {
    atomic_fetch_add_explicit(&layout->references, 1, memory_order_relaxed);
    return layout;
}

struct snapshot_layout *snapshot_layout_unref(struct snapshot_layout *layout) {
    if (layout && atomic_fetch_sub_explicit(&layout->references, 1, memory_order_acq_rel) == 1) {
        free(layout->events);
        topology_free(layout->topology);
        plan_free(layout->plan);
        catalog_free((struct catalog *)(uintptr_t)layout->catalog);
        free(layout);
    }
    return NULL;
}

struct snapshot *snapshot_new(struct snapshot_layout *layout) {
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    snapshot->layout = snapshot_layout_ref(layout);
    atomic_init(&snapshot->references, 1);
    snapshot->taken_seconds = NAN;
    snapshot->circumstances = circumstances_unknown();
    snapshot->status = status_unknown;
    snapshot->engine = status_engine_unknown;
    snapshot->values = malloc(layout->n_values * sizeof *snapshot->values);
    snapshot->absent = malloc(snapshot_n_states(layout) + 1);
    snapshot->trust = calloc(snapshot_n_states(layout) + 1, 1); // ESTIMATE_NONE
    snapshot->verdicts = malloc((1 + layout->topology->n_sockets) * sizeof *snapshot->verdicts);
    if (!snapshot->values || !snapshot->absent || !snapshot->trust || !snapshot->verdicts)
        return snapshot_unref(snapshot);
    for (size_t scope = 0; scope <= layout->topology->n_sockets; scope++)
        snapshot->verdicts[scope] = verdict_unknown(-1);
    for (size_t i = 0; i < layout->n_values; i++)
        snapshot->values[i] = NAN;
    for (size_t i = 0; i <= snapshot_n_states(layout); i++)
        snapshot->absent[i] = ABSENT_NO_ROUND;
    return snapshot;
}

void snapshot_tell_many(struct snapshot *snapshot) {
    size_t n = snapshot_n_states(snapshot->layout) + 1;
    snapshot->many = malloc(n * sizeof *snapshot->many);
    for (size_t i = 0; i < n && snapshot->many; i++)
        snapshot->many[i] = (struct estimate_rounds_of){.variance = NAN};
}

double snapshot_high_rate(const struct snapshot *snapshot, size_t metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    double threshold = layout->catalog->metrics[layout->plan->metrics[metric].metric].rate_threshold;
    double rate = snapshot->values[snapshot_rate_above(layout, 0, metric)];
    return threshold > 0 && rate > threshold ? rate : 0;
}

// Removes the gauges of all scopes.
static void remove_gauges(struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        for (size_t i = find_scope(layout, scope); i < first_total(layout, scope); i++)
            snapshot->values[i] = NAN;
        for (size_t m = 0; m < snapshot_n_metrics(layout, scope); m++) {
            uint8_t *absent = &snapshot->absent[snapshot_state(layout, scope, m)];
            if (*absent != ABSENT_NOT_PLANNABLE && *absent != ABSENT_NO_ROUND) // these remain true
                *absent = ABSENT_STALE;
        }
    }
    for (size_t e = 0; e < layout->n_events; e++)
        snapshot->values[snapshot_trouble(layout, e, EVENT_STARVED)] = NAN;
    for (size_t s = 0; s < layout->topology->n_sockets; s++)
        snapshot->values[snapshot_offline(layout, s)] = snapshot->values[snapshot_measured(layout, s)] = NAN;
    for (size_t i = snapshot_verdict(layout, 0, 0); i < layout->n_values; i++)
        snapshot->values[i] = NAN;
}

struct snapshot *snapshot_stale(const struct snapshot *snapshot) {
    struct snapshot_layout *layout = snapshot->layout;
    struct snapshot *stale = snapshot_new(layout);
    if (!stale)
        return NULL;
    stale->sequence = snapshot->sequence;
    stale->start_ns = snapshot->start_ns;
    stale->end_ns = snapshot->end_ns;
    stale->taken_seconds = snapshot->taken_seconds;
    stale->stale = true;
    stale->status = snapshot->status;
    stale->engine = snapshot->engine;
    status_forget_now(&stale->status, &stale->engine);
    stale->memory = host_memory_ref(snapshot->memory);
    memcpy(stale->values, snapshot->values, layout->n_values * sizeof *stale->values);
    memcpy(stale->absent, snapshot->absent, snapshot_n_states(layout));
    for (size_t scope = 0; scope <= layout->topology->n_sockets; scope++)
        stale->verdicts[scope] = verdict_unknown(snapshot->verdicts[scope].now.missing);
    remove_gauges(stale);
    return stale;
}

struct snapshot *snapshot_ref(struct snapshot *snapshot) {
    atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
    return snapshot;
}

struct snapshot *snapshot_unref(struct snapshot *snapshot) {
    if (snapshot && atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) == 1) {
        host_memory_unref(snapshot->memory);
        free(snapshot->many);
        free(snapshot->verdicts);
        free(snapshot->trust);
        free(snapshot->absent);
        free(snapshot->values);
        snapshot_layout_unref(snapshot->layout);
        free(snapshot);
    }
    return NULL;
}
