// SPDX-License-Identifier: Apache-2.0
#include "core/snapshot.h"

#include <math.h>
#include <stdlib.h>

// A scope's fields: gauges (n_metrics values, n_metrics rates, deviation), then totals (n_metrics numerators, n_metrics
// denominators, n_level1 categories, pipeline slots, n_events events, covered, UNCOVERED_N uncovered). After all
// scopes: per event group WINDOW_RESULT_N windows, enabled, running; then the self values.

const double snapshot_rotation_bounds[SELF_BUCKETS_N] = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1};

enum { GROUP_STRIDE = WINDOW_RESULT_N + 2 };

const char *uncovered_name(enum uncovered reason) {
    static const char *const names[UNCOVERED_N] = {"starved", "failed", "gap"};
    return names[reason];
}

const char *absent_text(enum absent reason) {
    static const char *const texts[ABSENT_N] = {
        "",
        "nothing has been measured yet",
        "not plannable on this host, see /api/v1/plan",
        "its event group never got the counters in this round: others hold them",
        "its event group could not be opened or read in this round",
        "its formula divides by zero: nothing of what it is a share of happened in this round",
    };
    return texts[reason];
}

size_t snapshot_metric(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return scope * layout->scope_stride + metric;
}

size_t snapshot_rate_above(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return scope * layout->scope_stride + layout->n_metrics + metric;
}

size_t snapshot_deviation(const struct snapshot_layout *layout, size_t scope) {
    return scope * layout->scope_stride + 2 * layout->n_metrics;
}

static size_t first_total(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_deviation(layout, scope) + 1;
}

size_t snapshot_numerator(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return first_total(layout, scope) + metric;
}

size_t snapshot_denominator(const struct snapshot_layout *layout, size_t scope, size_t metric) {
    return first_total(layout, scope) + layout->n_metrics + metric;
}

size_t snapshot_category(const struct snapshot_layout *layout, size_t scope, size_t category) {
    return first_total(layout, scope) + 2 * layout->n_metrics + category;
}

size_t snapshot_pipeline_slots(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_category(layout, scope, layout->n_level1);
}

size_t snapshot_event(const struct snapshot_layout *layout, size_t scope, size_t event) {
    return snapshot_pipeline_slots(layout, scope) + 1 + event;
}

size_t snapshot_covered(const struct snapshot_layout *layout, size_t scope) {
    return snapshot_event(layout, scope, layout->n_events);
}

size_t snapshot_uncovered(const struct snapshot_layout *layout, size_t scope, enum uncovered reason) {
    return snapshot_covered(layout, scope) + 1 + (size_t)reason;
}

size_t snapshot_windows(const struct snapshot_layout *layout, size_t group, enum window_result result) {
    return layout->n_scopes * layout->scope_stride + group * GROUP_STRIDE + (size_t)result;
}

size_t snapshot_enabled(const struct snapshot_layout *layout, size_t group) {
    return snapshot_windows(layout, group, WINDOW_RESULT_N);
}

size_t snapshot_running(const struct snapshot_layout *layout, size_t group) {
    return snapshot_windows(layout, group, WINDOW_RESULT_N) + 1;
}

size_t snapshot_self(const struct snapshot_layout *layout, enum self_value value) {
    return snapshot_windows(layout, layout->plan->n_groups, 0) + (size_t)value;
}

// Which of the catalog's events the plan counts.
static int layout_events(struct snapshot_layout *layout) {
    const struct plan *plan = layout->plan;
    bool *counted = calloc(layout->catalog->n_events, sizeof *counted);
    layout->events = calloc(layout->catalog->n_events, sizeof *layout->events);
    if (!counted || !layout->events) {
        free(counted);
        return -1;
    }
    for (size_t u = 0; u < plan->n_units; u++)
        for (size_t e = 0; e < plan->units[u].n_events; e++)
            counted[plan->units[u].events[e]] = true;
    for (unsigned e = 0; e < layout->catalog->n_events; e++)
        if (counted[e])
            layout->events[layout->n_events++] = e;
    free(counted);
    return 0;
}

struct snapshot_layout *snapshot_layout_new(const struct plan *plan, const struct topology *topology) {
    struct snapshot_layout *layout = calloc(1, sizeof *layout);
    if (!layout)
        return NULL;
    layout->catalog = plan->catalog;
    layout->plan = plan;
    layout->topology = topology;
    layout->n_scopes = 1 + topology->n_sockets + topology->n_cpus;
    layout->n_metrics = plan->n_metrics;
    layout->n_level1 = plan->level1_unit >= 0 ? plan->catalog->level1.n_categories : 0;
    if (layout_events(layout) < 0)
        return snapshot_layout_free(layout);
    layout->scope_stride = snapshot_uncovered(layout, 0, UNCOVERED_N); // scope 0 starts at 0 whatever the stride
    layout->n_values = snapshot_self(layout, SELF_N);
    return layout;
}

struct snapshot_layout *snapshot_layout_free(struct snapshot_layout *layout) {
    if (layout) {
        free(layout->events);
        free(layout);
    }
    return NULL;
}

struct snapshot *snapshot_new(const struct snapshot_layout *layout) {
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    snapshot->layout = layout;
    atomic_init(&snapshot->references, 1);
    snapshot->values = malloc(layout->n_values * sizeof *snapshot->values);
    snapshot->absent = malloc(layout->n_scopes * layout->n_metrics + 1);
    if (!snapshot->values || !snapshot->absent)
        return snapshot_unref(snapshot);
    for (size_t i = 0; i < layout->n_values; i++)
        snapshot->values[i] = NAN;
    for (size_t i = 0; i < layout->n_scopes * layout->n_metrics; i++)
        snapshot->absent[i] = ABSENT_NO_ROUND;
    return snapshot;
}

struct snapshot *snapshot_ref(struct snapshot *snapshot) {
    atomic_fetch_add_explicit(&snapshot->references, 1, memory_order_relaxed);
    return snapshot;
}

struct snapshot *snapshot_unref(struct snapshot *snapshot) {
    if (snapshot && atomic_fetch_sub_explicit(&snapshot->references, 1, memory_order_acq_rel) == 1) {
        free(snapshot->absent);
        free(snapshot->values);
        free(snapshot);
    }
    return NULL;
}
