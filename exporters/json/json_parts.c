// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_parts.h"

#include <math.h>

#include "exporters/view/view_boxes.h"

struct json json_begin_document(const struct view *view, struct text *out, enum json_layout layout) {
    struct json json = json_begin(out, layout);
    json_begin_object(&json, NULL);
    if (view->core_type)
        json_string(&json, "core_type", view->core_type);
    return json;
}

// A moment so many seconds before the snapshot's end; null: it is not known.
static void add_value_time(struct json *json, const char *name, const struct snapshot *snapshot, size_t at) {
    double age_ns = snapshot->values[at] * 1e9;
    if (age_ns >= 0 && age_ns <= (double)snapshot->end_ns)
        json_whole(json, name, snapshot->end_ns - (uint64_t)(age_ns + 0.5));
    else
        json_null(json, name);
}

void json_moment(struct json *json, const struct view *view, const struct snapshot *snapshot, enum json_scope scope) {
    static const char *const scopes[] = {[JSON_HOST] = "host", [JSON_SOCKET] = "socket", [JSON_CPU] = "cpu"};
    json_bool(json, "simulated", view->simulated);
    json_bool(json, "replay", view->replayed);
    json_whole(json, "sequence", snapshot->sequence);
    json_begin_object(json, "round");
    json_whole(json, "start_ns", snapshot->start_ns);
    json_whole(json, "end_ns", snapshot->end_ns);
    json_number(json, "seconds", (double)(snapshot->end_ns - snapshot->start_ns) * 1e-9);
    add_value_time(json, "values_start_ns", snapshot, snapshot_gauges_begun(view->layout));
    add_value_time(json, "values_end_ns", snapshot, snapshot_gauges_ended(view->layout));
    json_end_object(json);
    json_number(json, "timestamp_seconds", snapshot->taken_seconds);
    json_string(json, "scope", scopes[scope]);
}

size_t json_scope_count(const struct view *view, enum json_scope scope) {
    const struct topology *topology = view->layout->topology;
    return scope == JSON_HOST ? 1 : scope == JSON_SOCKET ? topology->n_sockets : topology->n_cpus;
}

size_t json_scope_index(const struct view *view, enum json_scope scope, size_t i) {
    return scope == JSON_HOST     ? 0
           : scope == JSON_SOCKET ? snapshot_scope_socket(i)
                                  : snapshot_scope_cpu(view->layout, i);
}

void json_scope_name(struct json *json, const struct view *view, enum json_scope scope, size_t i) {
    const struct topology *topology = view->layout->topology;
    if (scope == JSON_HOST) {
        json_string(json, "scope", "host");
    } else if (scope == JSON_SOCKET) {
        json_whole(json, "socket", topology->sockets[i].id);
    } else {
        json_whole(json, "cpu", topology->cpus[i].id);
        json_whole(json, "socket", topology->sockets[topology->cpus[i].socket].id);
    }
}

void json_meaning(struct json *json, const struct catalog *catalog, const struct catalog_metric *metric) {
    char unit[CATALOG_UNIT_MAX];
    view_boxes_unit(catalog, metric, unit, sizeof unit);
    json_string(json, "unit", unit);
    json_string(json, "domain", view_domain_text(metric->domain));
    json_string(json, "definition", metric->definition[0] != '\0' ? metric->definition : NULL);
}

void json_boxes_kind(struct json *json, const struct view *view) {
    const struct catalog_product *product = &view->layout->catalog->product;
    json_string(json, "pmu", view->pmu);
    json_string(json, "spec", product->chosen ? NULL : product->spec);
}

void json_trust(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope, int metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    double low = NAN, high = NAN, windows = NAN, share = NAN;
    enum estimate_quality quality = ESTIMATE_NONE;
    if (metric >= 0) {
        size_t m = (size_t)metric;
        low = snapshot->values[snapshot_low(layout, scope, m)];
        high = snapshot->values[snapshot_high(layout, scope, m)];
        windows = snapshot->values[snapshot_metric_windows(layout, scope, m)];
        share = snapshot->values[snapshot_share_of_time(layout, scope, m)];
        quality = snapshot_quality(snapshot, snapshot_state(layout, scope, m));
    }
    json_number(json, "low", low);
    json_number(json, "high", high);
    json_number(json, "windows", windows);
    json_number(json, "share_of_time", share);
    json_string(json, "quality", estimate_quality_name(quality));
    json_string(json, "quality_reason",
                metric >= 0 ? view_quality_reason(view, snapshot, scope, (size_t)metric) : NULL);
    json_bool(json, "exact", metric >= 0 && view_exact(view, snapshot, scope, (size_t)metric));
    json_string(json, "interval_reason",
                metric >= 0 ? view_interval_reason(view, snapshot, scope, (size_t)metric) : NULL);
}

void json_attention(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    json_begin_array(json, "attention");
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        double rate = snapshot_high_rate(snapshot, i);
        if (rate == 0 || !view_exported(view, i))
            continue;
        const struct catalog_metric *metric = view_metric(view, i);
        json_begin_object(json, NULL);
        json_string(json, "metric", metric->export_name);
        json_number(json, "rate", rate);
        json_number(json, "threshold", metric->rate_threshold);
        json_string(json, "advice", metric->rate_advice);
        json_end_object(json);
    }
    json_end_array(json);
}
