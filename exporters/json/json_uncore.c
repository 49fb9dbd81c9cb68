// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_uncore.h"

#include <math.h>

#include "exporters/json/json_parts.h"
#include "exporters/view/view_boxes.h"
#include "exporters/view/view_memory.h"

static void add_traffic(struct json *json, const struct shown_type *kind, size_t scope) {
    const struct view *view = kind->view;
    json_begin_array(json, "traffic");
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        const struct catalog_metric *metric = view_metric(view, m);
        double bytes;
        if (!traffic_passes(metric->traffic) || !view_plannable(view, m) || !catalog_metric_ratio(metric, &bytes))
            continue;
        json_begin_object(json, NULL);
        json_string(json, "name", traffic_table[metric->traffic].name);
        json_number(json, "bytes_total", bytes * kind->snapshot->values[snapshot_numerator(view->layout, scope, m)]);
        json_number(json, "bytes_per_second",
                    view_boxes_factor(view, scope, m) *
                        kind->snapshot->values[snapshot_metric(view->layout, scope, m)]);
        json_number(json, "share_of_time", kind->snapshot->values[snapshot_share_of_time(view->layout, scope, m)]);
        const char *reason = view_absent_text(view, kind->snapshot, scope, m);
        json_string(json, "reason", reason[0] ? reason : NULL);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_number(struct json *json, const char *key, int number) {
    if (number >= 0)
        json_whole(json, key, (uint64_t)number);
    else
        json_null(json, key);
}

// What the box with this number is.
static void add_box(struct json *json, const struct topology *topology, unsigned id) {
    const struct topology_box *box = id < topology->n_box_facts ? &topology->box_facts[id] : NULL;
    json_string(json, "name", box ? box->pmu : NULL);
    add_number(json, "cpu", box ? box->cpu : -1);
    add_number(json, "node", box ? box->node : -1);
}

// What a box counts.
static void add_event_names(struct json *json, const struct snapshot_layout *layout) {
    json_begin_array(json, "event_names");
    for (size_t e = 0; e < layout->n_events; e++)
        if (layout->catalog->events[layout->events[e]].kind == EVENT_COUNTED)
            json_string(json, NULL, layout->catalog->events[layout->events[e]].name);
    json_end_array(json);
}

// Of a PMU that the configuration names.
static void add_events(struct json *json, const struct shown_type *kind, size_t scope) {
    const struct view *view = kind->view;
    json_begin_array(json, "events");
    for (size_t m = 0; view->layout->catalog->product.chosen && m < view->layout->n_metrics; m++) {
        const struct catalog_metric *metric = view_metric(view, m);
        double factor;
        if (!view_plannable(view, m) || !catalog_metric_ratio(metric, &factor))
            continue;
        json_begin_object(json, NULL);
        json_string(json, "name", metric->name);
        json_string(json, "unit", metric->units);
        json_number(json, "total", factor * kind->snapshot->values[snapshot_numerator(view->layout, scope, m)]);
        json_number(json, "share_of_time", kind->snapshot->values[snapshot_share_of_time(view->layout, scope, m)]);
        json_end_object(json);
    }
    json_end_array(json);
}

// What is no traffic: how long reads take, ratios, and what the configuration names.
static void add_metrics(struct json *json, const struct shown_type *kind, size_t scope) {
    const struct view *view = kind->view;
    const struct snapshot *snapshot = kind->snapshot;
    char unit[CATALOG_UNIT_MAX];
    json_begin_array(json, "metrics");
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        const struct catalog_metric *metric = view_metric(view, m);
        if (metric->traffic != TRAFFIC_NONE || !view_exported(view, m))
            continue;
        const char *reason = view_absent_text(view, snapshot, scope, m);
        view_boxes_unit(view->layout->catalog, metric, unit, sizeof unit);
        json_begin_object(json, NULL);
        json_string(json, "metric", metric->export_name);
        json_string(json, "unit", unit);
        json_number(json, "value",
                    view_boxes_factor(view, scope, m) * snapshot->values[snapshot_metric(view->layout, scope, m)]);
        json_string(json, "reason", reason[0] ? reason : NULL);
        json_number(json, "share_of_time", snapshot->values[snapshot_share_of_time(view->layout, scope, m)]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_errors(struct json *json, const struct view *view) {
    json_begin_array(json, "errors");
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        json_begin_object(json, NULL);
        json_string(json, "reason", view->pmu_errors[i].reason);
        json_string(json, "text", view->pmu_errors[i].text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_kind(struct json *json, const struct shown_type *kind) {
    const struct snapshot_layout *layout = kind->view->layout;
    const struct topology *topology = layout->topology;
    json_begin_object(json, NULL);
    json_boxes_kind(json, kind->view);
    json_number(json, "timestamp_seconds", kind->snapshot->taken_seconds);
    json_number(json, "up", status_engine_series(&kind->snapshot->engine, STATUS_PMU_UP));
    add_errors(json, kind->view);
    add_event_names(json, layout);
    json_begin_array(json, "sockets");
    for (size_t s = 0; s < topology->n_sockets; s++) {
        json_begin_object(json, NULL);
        json_whole(json, "socket", topology->sockets[s].id);
        json_whole(json, "boxes", topology->sockets[s].measured);
        json_whole(json, "boxes_left_out", topology->sockets[s].excluded);
        json_number(json, "peak_bytes_per_second", view_memory_peak(kind->view, kind->snapshot, s));
        json_string(json, "peak_source", view_memory_peak_source(kind->view, kind->snapshot, s));
        add_traffic(json, kind, snapshot_scope_socket(s));
        add_events(json, kind, snapshot_scope_socket(s));
        add_metrics(json, kind, snapshot_scope_socket(s));
        json_end_object(json);
    }
    json_end_array(json);
    json_begin_array(json, "boxes");
    for (size_t box = 0; box < topology->n_cpus; box++) {
        json_begin_object(json, NULL);
        json_whole(json, "box", topology->cpus[box].id);
        add_box(json, topology, topology->cpus[box].id);
        json_whole(json, "socket", topology->sockets[topology->cpus[box].socket].id);
        add_traffic(json, kind, snapshot_scope_cpu(layout, box));
        add_events(json, kind, snapshot_scope_cpu(layout, box));
        add_metrics(json, kind, snapshot_scope_cpu(layout, box));
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static const char *why_none(const struct shown *shown, char out[VIEW_ELSEWHERE_MAX]) {
    const struct view *view = shown->types[0].view;
    if (shown->n_boxes > 0)
        return NULL;
    for (size_t i = 0; i < view->n_pmu_errors; i++)
        if (view->pmu_errors[i].uncore)
            return view->pmu_errors[i].text;
    return view->replayed ? view_recorded_elsewhere(view, out) ? out : "the recording holds none"
                          : "the configuration selects none that this host has";
}

// The newest kind's moment: each kind is read, and shown, as soon as its interval has passed. Without kinds, the
// cores'.
static double newest_at(const struct shown *shown) {
    double newest = shown->n_boxes > 0 ? NAN : shown->types[0].snapshot->taken_seconds;
    for (size_t i = shown->n; i < shown_all(shown); i++)
        newest = fmax(newest, shown->types[i].snapshot->taken_seconds);
    return newest;
}

int json_render_uncore(const struct shown *shown, struct text *out) {
    const struct view *view = shown->types[0].view;
    struct json json = json_begin(out, JSON_INDENTED);
    char elsewhere[VIEW_ELSEWHERE_MAX];
    json_begin_object(&json, NULL);
    json_bool(&json, "simulated", view->simulated);
    json_bool(&json, "replay", view->replayed);
    json_number(&json, "timestamp_seconds", newest_at(shown));
    json_string(&json, "reason", why_none(shown, elsewhere));
    json_begin_array(&json, "kinds");
    for (size_t i = shown->n; i < shown_all(shown); i++)
        add_kind(&json, &shown->types[i]);
    json_end_array(&json);
    json_end_object(&json);
    return json_end(&json);
}
