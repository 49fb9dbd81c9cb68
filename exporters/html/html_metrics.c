// SPDX-License-Identifier: Apache-2.0
//
// The metrics that the profile selects: their values in each socket and what they mean, and what cannot be measured.

#include <math.h>

#include "exporters/html/html_parts.h"
#include "exporters/view/view_boxes.h"

// What a metric is, in a few words that open to all that is known of it, and why it has no value.
static void put_about(const struct view *view, size_t i, size_t number, const char *reason, struct text *out) {
    const struct catalog_metric *metric = view_metric(view, i);
    text_string(out, "<td class=\"what\">");
    if (metric->help[0]) {
        text_string(out, "<details data-key=\"");
        html_put_id(out, view, "about", metric, number);
        text_string(out, "\"><summary id=\"");
        html_put_id(out, view, "about", metric, number);
        text_string(out, "\">");
    }
    html_put(out, view_title(metric));
    if (metric->help[0]) {
        text_string(out, "</summary><p>");
        html_put(out, metric->help);
        text_string(out, "</details>");
    }
    if (reason[0]) {
        text_string(out, "<span class=\"soft\">No value: ");
        html_put(out, reason);
        text_string(out, "</span>");
    }
    text_string(out, "\n");
}

static size_t find_socket(const struct topology *topology, unsigned id) {
    size_t s = 0;
    while (s < topology->n_sockets && topology->sockets[s].id != id)
        s++;
    return s;
}

// Latencies are read in nanoseconds.
static void put_unit(const struct catalog *catalog, const struct catalog_metric *metric, bool latency,
                     struct text *out) {
    static const char seconds[] = "seconds";
    char unit[CATALOG_UNIT_MAX];
    view_boxes_unit(catalog, metric, unit, sizeof unit);
    text_string(out, "<td class=\"unit\">");
    text_string(out, latency ? "ns" : "");
    html_put(out, latency ? unit + sizeof seconds - 1 : unit);
}

void html_metric_put(const struct html_metric *of, struct text *out) {
    const struct view *view = of->type->view;
    const struct snapshot *snapshot = of->type->snapshot;
    const struct topology *topology = view->layout->topology;
    const struct catalog_metric *metric = view_metric(view, of->metric);
    bool latency = topology->boxes && view_boxes_is_latency(view->layout->catalog, metric);
    text_string(out, "<tr><td>");
    html_put_history_link(out, view, metric, "metric", of->number, metric->export_name);
    const char *reason = "";
    for (size_t i = 0; i < of->columns->n_sockets; i++) {
        size_t s = find_socket(topology, of->columns->sockets[i].id), scope = snapshot_scope_socket(s);
        text_format(out, "<td data-socket=\"socket %u\" class=\"n\">", of->columns->sockets[i].id);
        if (s == topology->n_sockets)
            continue; // none of its boxes is there
        double value = snapshot->values[snapshot_metric(view->layout, scope, of->metric)],
               times = (latency ? 1e9 : 1) * view_boxes_factor(view, scope, of->metric);
        if (isfinite(value)) {
            html_put_number(out, times * value);
            const struct html_margin margin = {.value = value,
                                               .high = snapshot->values[snapshot_high(view->layout, scope, of->metric)],
                                               .scale = times,
                                               .exact = view_exact(view, snapshot, scope, of->metric)};
            html_put_margin(out, metric, &margin);
            continue;
        }
        text_string(out, "&ndash;");
        if (!reason[0])
            reason = view_absent_text(view, snapshot, scope, of->metric);
    }
    put_unit(view->layout->catalog, metric, latency, out);
    put_about(view, of->metric, of->number, reason, out);
}

// The number of metrics to show that can (plannable) or cannot be measured.
static size_t count_metrics(const struct view *view, bool plannable) {
    size_t n = 0;
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        n += view_exported(view, i) && view_plannable(view, i) == plannable;
    return n;
}

void html_metrics_head(const struct topology *columns, const char *heading, struct text *out) {
    text_format(out, "<h2>%s</h2>\n<div class=\"wide\"><table class=\"cells\">\n<tr><th>Metric", heading);
    for (size_t s = 0; s < columns->n_sockets; s++)
        text_format(out, "<th class=\"n\">Socket %u", columns->sockets[s].id);
    text_string(out, "<th>Unit<th>What it is\n");
}

void html_metrics_render(const struct shown_type *type, struct text *out) {
    const struct view *view = type->view;
    if (count_metrics(view, true) == 0)
        return;
    html_metrics_head(view->layout->topology, "Metrics of the last round", out);
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        const struct html_metric metric = {.type = type, .columns = view->layout->topology, .metric = i};
        if (view_exported(view, i) && view_plannable(view, i))
            html_metric_put(&metric, out);
    }
    text_string(out, "</table></div>\n");
}

static void put_not_plannable(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    if (count_metrics(view, false) == 0)
        return;
    text_string(out, "<h2>Metrics that cannot be measured now</h2>\n<table>\n<tr><th>Metric<th>Why\n");
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (view_exported(view, i) && !view_plannable(view, i))
            html_put_row(out, view_metric(view, i)->export_name, view_absent_text(view, snapshot, 0, i));
    text_string(out, "</table>\n");
}

static void put_not_live(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct snapshot_layout *layout = view->layout;
    bool any = false;
    for (size_t e = 0; e < layout->n_events; e++) {
        enum event_trouble trouble = view_trouble(view, snapshot, e);
        if (trouble == EVENT_TROUBLE_N)
            continue;
        text_string(out, any ? "" : "<h2>Events that yield no samples</h2>\n<table>\n<tr><th>Event<th>State<th>Why\n");
        text_string(out, "<tr><td>");
        html_put(out, layout->catalog->events[layout->events[e]].name);
        text_format(out, "<td>%s<td>%s\n", event_trouble_name(trouble), view_trouble_text(view, e, trouble));
        any = true;
    }
    text_string(out, any ? "</table>\n" : "");
}

void html_missing_render(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    put_not_plannable(view, snapshot, out);
    put_not_live(view, snapshot, out);
}
