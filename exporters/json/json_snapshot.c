// SPDX-License-Identifier: Apache-2.0
//
// All values of a round, scope by scope, one per line: a thousand CPUs make megabytes.

#include <math.h>

#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"

static double value_of(const struct snapshot *snapshot, size_t index) { return snapshot->values[index]; }

static void add_level1(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope) {
    const struct snapshot_layout *layout = view->layout;
    if (layout->n_level1 == 0) {
        json_null(json, "level1");
        return;
    }
    json_begin_object(json, "level1");
    json_number(json, "pipeline_slots_total", value_of(snapshot, snapshot_pipeline_slots(layout, scope)));
    json_begin_object(json, "categories");
    for (size_t i = 0; i < layout->n_level1; i++) {
        enum category category = layout->catalog->level1.categories[i].category;
        unsigned metric = layout->catalog->level1.categories[i].metric;
        json_begin_object(json, category_name(category));
        json_number(json, "pipeline_slots_total", value_of(snapshot, snapshot_category(layout, scope, i)));
        json_string(json, "metric", layout->catalog->metrics[metric].export_name);
        json_end_object(json);
    }
    json_end_object(json);
    json_number(json, "deviation_ratio", value_of(snapshot, snapshot_deviation(layout, scope)));
    json_bool(json, "composite", view_composite(view));
    json_end_object(json);
}

static void add_metric(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope,
                       size_t i) {
    const struct snapshot_layout *layout = view->layout;
    const struct catalog_metric *metric = view_metric(view, i);
    const char *reason = view_absent_text(view, snapshot, scope, i);
    char unit[VIEW_UNIT_MAX];
    double k;
    view_metric_unit(metric, unit, sizeof(unit));
    json_begin_object(json, metric->export_name);
    json_number(json, "value", value_of(snapshot, snapshot_metric(layout, scope, i)));
    json_string(json, "reason", reason[0] ? reason : NULL);
    json_string(json, "unit", unit);
    json_trust(json, snapshot, scope, (int)i);
    if (catalog_metric_ratio(metric, &k)) {
        json_number(json, "numerator_total", value_of(snapshot, snapshot_numerator(layout, scope, i)));
        json_number(json, "denominator_total", value_of(snapshot, snapshot_denominator(layout, scope, i)));
        json_number(json, "k", k);
    }
    json_end_object(json);
}

static void add_coverage(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope) {
    json_number(json, "covered_cpu_seconds", value_of(snapshot, snapshot_covered(view->layout, scope)));
    json_begin_object(json, "uncovered_cpu_seconds");
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        json_number(json, uncovered_name((enum uncovered)reason),
                    value_of(snapshot, snapshot_uncovered(view->layout, scope, (enum uncovered)reason)));
    json_end_object(json);
}

static void add_scope(struct json *json, const struct view *view, const struct snapshot *snapshot, enum json_scope kind,
                      size_t i) {
    const struct snapshot_layout *layout = view->layout;
    size_t scope = json_scope_index(view, kind, i);
    json_begin_object(json, NULL);
    json_scope_name(json, view, kind, i);
    add_level1(json, view, snapshot, scope);
    json_begin_object(json, "metrics");
    for (size_t m = 0; m < layout->n_metrics; m++)
        if (view_exported(view, m))
            add_metric(json, view, snapshot, scope, m);
    json_end_object(json);
    json_begin_object(json, "events");
    for (size_t e = 0; e < layout->n_events; e++)
        json_number(json, layout->catalog->events[layout->events[e]].name,
                    value_of(snapshot, snapshot_event(layout, scope, e)));
    json_end_object(json);
    add_coverage(json, view, snapshot, scope);
    if (kind == JSON_HOST)
        json_attention(json, view, snapshot);
    json_end_object(json);
}

int json_render_snapshot(const struct view *view, const struct snapshot *snapshot, enum json_scope scope,
                         struct text *out) {
    struct json json = json_begin_document(view, out, JSON_COMPACT);
    json_moment(&json, view, snapshot, scope);
    json_begin_array(&json, "scopes");
    for (size_t i = 0; i < json_scope_count(view, scope); i++) {
        json_begin_line(&json, JSON_COMPACT);
        add_scope(&json, view, snapshot, scope, i);
    }
    json_end_array(&json);
    json_end_object(&json);
    return json_end(&json);
}
