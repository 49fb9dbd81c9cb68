// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_boxes.h"

#include "exporters/json/json_parts.h"
#include "exporters/view/view_boxes.h"

static void add_totals(struct json *json, const struct shown_type *kind, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = kind->view->layout;
    double k;
    if (!catalog_metric_ratio(view_metric(kind->view, metric), &k))
        return;
    json_number(json, "numerator_total", kind->snapshot->values[snapshot_numerator(layout, scope, metric)]);
    json_number(json, "denominator_total", kind->snapshot->values[snapshot_denominator(layout, scope, metric)]);
    json_number(json, "k", k);
}

static void add_value(struct json *json, const struct shown_type *kind, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = kind->view->layout;
    const struct snapshot *snapshot = kind->snapshot;
    const char *reason = view_absent_text(kind->view, snapshot, scope, metric);
    double factor = view_boxes_factor(kind->view, scope, metric);
    char unit[CATALOG_UNIT_MAX];
    view_boxes_unit(layout->catalog, view_metric(kind->view, metric), unit, sizeof unit);
    json_begin_object(json, view_metric(kind->view, metric)->export_name);
    json_number(json, "value", factor * snapshot->values[snapshot_metric(layout, scope, metric)]);
    json_string(json, "reason", reason[0] ? reason : NULL);
    json_string(json, "unit", unit);
    json_number(json, "low", factor * snapshot->values[snapshot_low(layout, scope, metric)]);
    json_number(json, "high", factor * snapshot->values[snapshot_high(layout, scope, metric)]);
    json_number(json, "windows", snapshot->values[snapshot_metric_windows(layout, scope, metric)]);
    json_number(json, "share_of_time", snapshot->values[snapshot_share_of_time(layout, scope, metric)]);
    json_string(json, "quality",
                estimate_quality_name(snapshot_quality(snapshot, snapshot_state(layout, scope, metric))));
    json_string(json, "quality_reason", view_quality_reason(kind->view, snapshot, scope, metric));
    json_bool(json, "exact", view_exact(kind->view, snapshot, scope, metric));
    json_string(json, "interval_reason", view_interval_reason(kind->view, snapshot, scope, metric));
    add_totals(json, kind, scope, metric);
    json_end_object(json);
}

static void add_meanings(struct json *json, const struct view *view) {
    json_begin_object(json, "metrics");
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        const struct catalog_metric *metric = view_metric(view, m);
        if (!view_exported(view, m))
            continue;
        json_begin_object(json, metric->export_name);
        json_string(json, "title", metric->title);
        json_meaning(json, view->layout->catalog, metric);
        json_end_object(json);
    }
    json_end_object(json);
}

static void add_socket(struct json *json, const struct shown_type *kind, size_t socket) {
    const struct topology *topology = kind->view->layout->topology;
    json_begin_line(json, JSON_COMPACT);
    json_begin_object(json, NULL);
    json_whole(json, "socket", topology->sockets[socket].id);
    json_whole(json, "boxes", topology->sockets[socket].measured);
    json_begin_object(json, "metrics");
    for (size_t m = 0; m < kind->view->layout->n_metrics; m++)
        if (view_exported(kind->view, m))
            add_value(json, kind, snapshot_scope_socket(socket), m);
    json_end_object(json);
    json_end_object(json);
}

static void add_kind(struct json *json, const struct shown_type *kind) {
    const struct snapshot_layout *layout = kind->view->layout;
    json_begin_line(json, JSON_COMPACT);
    json_begin_object(json, NULL);
    json_boxes_kind(json, kind->view);
    json_number(json, "timestamp_seconds", kind->snapshot->taken_seconds);
    add_meanings(json, kind->view);
    json_begin_array(json, "sockets");
    for (size_t s = 0; s < layout->topology->n_sockets; s++)
        add_socket(json, kind, s);
    json_end_array(json);
    json_end_object(json);
}

void json_boxes(struct json *json, const struct shown *shown) {
    json_begin_array(json, "uncore");
    for (size_t i = shown->n; i < shown_all(shown); i++)
        add_kind(json, &shown->types[i]);
    json_end_array(json);
}
