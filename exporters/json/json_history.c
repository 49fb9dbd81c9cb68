// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/history/history.h"
#include "exporters/json/json_parts.h"
#include "exporters/text/json_writer.h"

// A metric of the plan of a core type or of boxes.
static void add_planned(struct json *json, const struct view_history_series *series) {
    const struct catalog_metric *metric = view_metric(series->view, series->metric);
    json_string(json, "metric", metric->export_name);
    json_string(json, "title", view_title(metric));
    json_meaning(json, series->view->layout->catalog, metric);
}

static void add_counted(struct json *json, const struct memory_metric_words *metric) {
    json_string(json, "metric", metric->name);
    json_string(json, "title", metric->title);
    json_string(json, "unit", metric->unit);
    json_string(json, "domain", view_domain_text(METRIC_OTHER));
    json_string(json, "definition", metric->definition);
}

// In few digits, at least four: an interval says where it ends to a twentieth of its margin.
static double in_few_digits(double end, double margin) {
    for (int digits = 4; digits < 15; digits++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%.*g", digits, end);
        double near = strtod(text, NULL);
        if (fabs(near - end) <= margin / 20)
            return near;
    }
    return end;
}

// A share is no less than 0 and no more than 1, and what has no sign is no less than 0.
static double end_of(const struct view_history_series *series, size_t i, int side) {
    double value = series->values[i], end = value + side * series->margins[i];
    bool share = series->view && view_metric(series->view, series->metric)->domain != METRIC_OTHER;
    if (side < 0 && value >= 0 && end < 0)
        return 0;
    if (!isfinite(end) || end == value)
        return end;
    end = in_few_digits(end, series->margins[i]);
    return share && value <= 1 && end > 1 ? 1 : end;
}

static void add_ends(struct json *json, const struct view_history *history, const struct view_history_series *series,
                     const char *key, int side) {
    json_begin_array(json, key);
    for (size_t i = 0; i < history->n_steps; i++)
        json_number(json, NULL, end_of(series, i, side));
    json_end_array(json);
}

static void add_series(struct json *json, const struct view_history *history,
                       const struct view_history_series *series) {
    json_begin_line(json, JSON_COMPACT);
    json_begin_object(json, NULL);
    if (series->view && series->view->core_type)
        json_string(json, "core_type", series->view->core_type);
    if (series->view && series->view->layout->topology->boxes)
        json_string(json, "pmu", series->view->pmu);
    if (history->scope != MEMORY_HOST)
        json_whole(json, memory_scope_name(history->scope), (uint64_t)series->id);
    if (series->view)
        add_planned(json, series);
    else
        add_counted(json, &memory_metrics[series->metric]);
    json_begin_array(json, "values");
    for (size_t i = 0; i < history->n_steps; i++)
        json_number(json, NULL, series->values[i]);
    json_end_array(json);
    add_ends(json, history, series, "low", -1);
    add_ends(json, history, series, "high", 1);
    json_end_object(json);
}

static void add_mark(struct json *json, const struct view_history *history, const struct view_history_mark *mark) {
    json_begin_line(json, JSON_COMPACT);
    json_begin_object(json, NULL);
    if (mark->view->core_type && mark->mark.kind != MARK_USER)
        json_string(json, "core_type", mark->view->core_type);
    json_number(json, "timestamp_seconds", view_history_seconds(history, mark->mark.at_ns));
    json_string(json, "kind", mark_kind_name(mark->mark.kind));
    json_string(json, "text", mark->mark.text);
    json_end_object(json);
}

int json_render_history(const struct view_history *history, struct text *out) {
    struct json json = json_begin(out, JSON_INDENTED);
    json_begin_object(&json, NULL);
    json_bool(&json, "simulated", history->view->simulated);
    json_bool(&json, "replay", history->view->replayed);
    json_string(&json, "scope", memory_scope_name(history->scope));
    json_number(&json, "step_seconds", (double)history->step_ns * 1e-9);
    json_number(&json, "begin_timestamp_seconds",
                history->n_steps == 0 ? NAN : view_history_seconds(history, history->first * history->step_ns));
    json_whole(&json, "steps", history->n_steps);
    json_begin_array(&json, "series");
    for (size_t i = 0; i < history->n_series; i++)
        add_series(&json, history, &history->series[i]);
    json_end_array(&json);
    json_begin_line(&json, JSON_INDENTED);
    json_begin_array(&json, "marks");
    for (size_t i = 0; i < history->n_marks; i++)
        add_mark(&json, history, &history->marks[i]);
    json_end_array(&json);
    json_end_object(&json);
    return json_end(&json);
}
