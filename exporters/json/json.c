// SPDX-License-Identifier: Apache-2.0
//
// A snapshot is written scope by scope, each built, printed and freed before the next: the objects of a thousand CPUs
// at once would take many times the text.

#include "exporters/json/json.h"

#include <errno.h>
#include <math.h>

#include "exporters/json/json_parts.h"
#include "exporters/view/json_object.h"

struct json json_document(const struct view *view) {
    struct json json = json_new();
    if (view->core_type)
        json_string(&json, NULL, "core_type", view->core_type);
    return json;
}

static double value_of(const struct snapshot *snapshot, size_t index) { return snapshot->values[index]; }

static void add_level1(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope) {
    const struct snapshot_layout *layout = view->layout;
    if (layout->n_level1 == 0) {
        json_null(json, NULL, "level1");
        return;
    }
    cJSON *level1 = json_object(json, NULL, "level1");
    json_number(json, level1, "pipeline_slots_total", value_of(snapshot, snapshot_pipeline_slots(layout, scope)));
    cJSON *categories = json_object(json, level1, "categories");
    for (size_t i = 0; i < layout->n_level1; i++) {
        enum category category = layout->catalog->level1.categories[i].category;
        unsigned metric = layout->catalog->level1.categories[i].metric;
        cJSON *item = json_object(json, categories, category_name(category));
        json_number(json, item, "pipeline_slots_total", value_of(snapshot, snapshot_category(layout, scope, i)));
        json_string(json, item, "metric", layout->catalog->metrics[metric].export_name);
    }
    json_number(json, level1, "deviation_ratio", value_of(snapshot, snapshot_deviation(layout, scope)));
    json_bool(json, level1, "composite", view_composite(view));
}

void json_trust(struct json *json, cJSON *item, const struct snapshot *snapshot, size_t scope, int metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    double low = NAN, high = NAN, windows = NAN, share = NAN;
    enum estimate_quality quality = ESTIMATE_NONE;
    if (metric >= 0) {
        size_t m = (size_t)metric;
        low = value_of(snapshot, snapshot_low(layout, scope, m));
        high = value_of(snapshot, snapshot_high(layout, scope, m));
        windows = value_of(snapshot, snapshot_metric_windows(layout, scope, m));
        share = value_of(snapshot, snapshot_share_of_time(layout, scope, m));
        quality = (enum estimate_quality)snapshot->quality[scope * layout->n_metrics + m];
    }
    json_number(json, item, "low", low);
    json_number(json, item, "high", high);
    json_number(json, item, "windows", windows);
    json_number(json, item, "share_of_time", share);
    json_string(json, item, "quality", estimate_quality_name(quality));
}

static void add_metric(struct json *json, cJSON *metrics, const struct view *view, const struct snapshot *snapshot,
                       size_t scope, size_t i) {
    const struct snapshot_layout *layout = view->layout;
    const struct catalog_metric *metric = view_metric(view, i);
    cJSON *item = json_object(json, metrics, metric->export_name);
    double value = value_of(snapshot, snapshot_metric(layout, scope, i));
    json_number(json, item, "value", value);
    const char *reason = view_absent_text(view, snapshot, scope, i);
    if (reason[0])
        json_string(json, item, "reason", reason);
    else
        json_null(json, item, "reason");
    char unit[VIEW_UNIT_MAX];
    view_metric_unit(metric, unit, sizeof(unit));
    json_string(json, item, "unit", unit);
    json_trust(json, item, snapshot, scope, (int)i);
    double k;
    if (!catalog_metric_ratio(metric, &k))
        return;
    json_number(json, item, "numerator_total", value_of(snapshot, snapshot_numerator(layout, scope, i)));
    json_number(json, item, "denominator_total", value_of(snapshot, snapshot_denominator(layout, scope, i)));
    json_number(json, item, "k", k);
}

static void add_coverage(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope) {
    json_number(json, NULL, "covered_cpu_seconds", value_of(snapshot, snapshot_covered(view->layout, scope)));
    cJSON *uncovered = json_object(json, NULL, "uncovered_cpu_seconds");
    for (int reason = 0; reason < UNCOVERED_N; reason++)
        json_number(json, uncovered, uncovered_name((enum uncovered)reason),
                    value_of(snapshot, snapshot_uncovered(view->layout, scope, (enum uncovered)reason)));
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
        json_string(json, NULL, "scope", "host");
    } else if (scope == JSON_SOCKET) {
        json_whole(json, NULL, "socket", topology->sockets[i].id);
    } else {
        json_whole(json, NULL, "cpu", topology->cpus[i].id);
        json_whole(json, NULL, "socket", topology->sockets[topology->cpus[i].socket].id);
    }
}

static int render_scope(const struct view *view, const struct snapshot *snapshot, enum json_scope kind, size_t i,
                        struct text *out) {
    const struct snapshot_layout *layout = view->layout;
    size_t scope = json_scope_index(view, kind, i);
    struct json json = json_new();
    json_scope_name(&json, view, kind, i);
    add_level1(&json, view, snapshot, scope);
    cJSON *metrics = json_object(&json, NULL, "metrics");
    for (size_t m = 0; m < layout->n_metrics; m++)
        if (view_exported(view, m))
            add_metric(&json, metrics, view, snapshot, scope, m);
    cJSON *events = json_object(&json, NULL, "events");
    for (size_t e = 0; e < layout->n_events; e++)
        json_number(&json, events, layout->catalog->events[layout->events[e]].name,
                    value_of(snapshot, snapshot_event(layout, scope, e)));
    add_coverage(&json, view, snapshot, scope);
    if (kind == JSON_HOST)
        json_attention(&json, view, snapshot);
    return json_finish(&json, false, out);
}

void json_moment(struct json *json, const struct view *view, const struct snapshot *snapshot, enum json_scope scope) {
    static const char *const scopes[] = {[JSON_HOST] = "host", [JSON_SOCKET] = "socket", [JSON_CPU] = "cpu"};
    json_bool(json, NULL, "simulated", view->simulated);
    json_bool(json, NULL, "replay", view->replayed);
    json_whole(json, NULL, "sequence", snapshot->sequence);
    cJSON *round = json_object(json, NULL, "round");
    json_whole(json, round, "start_ns", snapshot->start_ns);
    json_whole(json, round, "end_ns", snapshot->end_ns);
    json_number(json, round, "seconds", (double)(snapshot->end_ns - snapshot->start_ns) * 1e-9);
    json_number(json, NULL, "timestamp_seconds",
                value_of(snapshot, snapshot_self(view->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)));
    json_string(json, NULL, "scope", scopes[scope]);
}

int json_render_snapshot(const struct view *view, const struct snapshot *snapshot, enum json_scope scope,
                         struct text *out) {
    struct json json = json_document(view);
    json_moment(&json, view, snapshot, scope);
    int r = json_finish(&json, false, out); // all but the scopes
    if (r < 0)
        return r;
    out->length--; // the closing brace comes last
    text_string(out, ",\"scopes\":[");
    for (size_t i = 0; i < json_scope_count(view, scope) && r == 0; i++) {
        text_string(out, i ? ",\n" : "\n");
        r = render_scope(view, snapshot, scope, i, out);
    }
    text_string(out, "]}\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}
