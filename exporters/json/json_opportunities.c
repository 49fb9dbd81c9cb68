// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_opportunities.h"

#include <math.h>

#include "core/spec/opportunity.h"
#include "exporters/json/json_parts.h"

static double value_at(const struct snapshot *snapshot, size_t at, int place) {
    return place >= 0 ? snapshot->values[at] : (double)NAN;
}

// The bound in a scope, and how far to trust it. `place` in the plan; -1: it is not there.
static void add_bound(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope,
                      int place) {
    const struct snapshot_layout *layout = view->layout;
    size_t m = place >= 0 ? (size_t)place : 0;
    double value = value_at(snapshot, snapshot_metric(layout, scope, m), place);
    json_number(json, "value", value);
    json_string(json, "reason",
                place < 0       ? VIEW_NOT_SELECTED
                : !isnan(value) ? NULL
                                : view_absent_text(view, snapshot, scope, m));
    json_trust(json, view, snapshot, scope, place);
    json_number(json, "pipeline_slots_total", value_at(snapshot, snapshot_numerator(layout, scope, m), place));
}

static void add_action(struct json *json, const struct view *view, const struct snapshot *snapshot,
                       enum opportunity action, const struct catalog_metric *metric) {
    const struct opportunity_info *info = &opportunity_table[action];
    int place = snapshot_layout_place(view->layout, metric->export_name);
    json_begin_object(json, NULL);
    json_string(json, "action", info->name);
    json_string(json, "title", info->title);
    json_string(json, "means", info->means);
    json_string(json, "remedy", info->remedy);
    json_string(json, "experiment", info->experiment);
    json_string(json, "metric", metric->export_name);
    json_string(json, "formula", metric->formula_text);
    json_string(json, "assumes", metric->help);
    add_bound(json, view, snapshot, 0, place);
    json_begin_array(json, "sockets");
    for (size_t i = 0, n = json_scope_count(view, JSON_SOCKET); i < n; i++) {
        json_begin_object(json, NULL);
        json_scope_name(json, view, JSON_SOCKET, i);
        add_bound(json, view, snapshot, json_scope_index(view, JSON_SOCKET, i), place);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

void json_actions(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct catalog *catalog = view->layout->catalog;
    json_begin_array(json, "actions");
    for (enum opportunity action = 0; action < OPPORTUNITY_N; action++)
        for (size_t m = 0; m < catalog->n_metrics; m++)
            if (catalog->metrics[m].stands_for < 0 && opportunity_of(&catalog->metrics[m]) == action)
                add_action(json, view, snapshot, action, &catalog->metrics[m]);
    json_end_array(json);
}

int json_render_opportunities(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    struct json json = json_begin_document(view, out, JSON_INDENTED);
    json_moment(&json, view, snapshot, JSON_HOST);
    json_number(&json, "pipeline_slots_total", snapshot->values[snapshot_pipeline_slots(view->layout, 0)]);
    json_actions(&json, view, snapshot);
    json_end_object(&json);
    return json_end(&json);
}
