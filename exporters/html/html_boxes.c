// SPDX-License-Identifier: Apache-2.0
//
// What PMUs outside the cores tell, on the card of each socket and in a table of all of it. What the memory moves is
// beside level 1 (html_sockets.c), and single boxes are the script's.

#include <math.h>

#include "exporters/html/html_parts.h"
#include "exporters/view/view_boxes.h"
#include "exporters/view/view_memory.h"

enum { LATENCIES_MAX = 4 }; // on a card, all others are in the table

// ---- on the card ----

static void put_misses(const struct shown *shown, unsigned socket, struct text *out) {
    struct view_misses misses;
    if (!view_misses_of(shown, socket, &misses) || misses.local + misses.remote <= 0)
        return;
    double remote = misses.remote / (misses.local + misses.remote);
    text_string(out, "<p class=\"memory\">");
    html_put_share(out, remote);
    text_format(out, " %s\n<div class=\"bar\"><span class=\"mw\" style=\"width:%.2f%%\"></span></div>\n",
                misses.requested ? "of the requests to this socket's memory came from other sockets"
                                 : "of what the last-level cache missed came from other sockets",
                100 * remote);
}

struct latency {
    const struct shown_type *kind;
    size_t socket, metric; // of the kind
};

static bool is_latency(const struct view *view, size_t metric) {
    return view_exported(view, metric) && view_plannable(view, metric) &&
           view_boxes_is_latency(view->layout->catalog, view_metric(view, metric));
}

// Those of a socket, as far as there is room.
static size_t find_latencies(const struct shown *shown, unsigned socket, struct latency out[LATENCIES_MAX]) {
    size_t n = 0;
    for (size_t i = shown->n; i < shown_all(shown); i++) {
        const struct view *view = shown->types[i].view;
        const struct topology *topology = view->layout->topology;
        for (size_t s = 0; s < topology->n_sockets; s++)
            for (size_t m = 0; topology->sockets[s].id == socket && m < view->layout->n_metrics; m++)
                if (n < LATENCIES_MAX && is_latency(view, m))
                    out[n++] = (struct latency){&shown->types[i], s, m};
    }
    return n;
}

static void put_latency(const struct latency *of, struct text *out) {
    const struct view *view = of->kind->view;
    const struct catalog_metric *metric = view_metric(view, of->metric);
    double seconds =
        of->kind->snapshot->values[snapshot_metric(view->layout, snapshot_scope_socket(of->socket), of->metric)];
    text_string(out, "<dt>");
    html_put_history_link(out, view, metric, "latency", of->socket, view_title(metric));
    if (isfinite(seconds))
        text_format(out, "<dd class=\"nb\">%.0f ns\n", seconds * 1e9);
    else
        text_string(out, "<dd class=\"soft\">no value\n");
}

static void put_latencies(const struct shown *shown, unsigned socket, struct text *out) {
    struct latency latencies[LATENCIES_MAX];
    size_t n = find_latencies(shown, socket, latencies);
    text_string(out, n > 0 ? "<dl class=\"latency\">" : "");
    for (size_t i = 0; i < n; i++)
        put_latency(&latencies[i], out);
    text_string(out, n > 0 ? "</dl>\n" : "");
}

void html_boxes_put(const struct shown *shown, unsigned socket, struct text *out) {
    put_misses(shown, socket, out);
    put_latencies(shown, socket, out);
}

// ---- all of it ----

static void put_kind(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct topology *columns = shown->types[0].view->layout->topology;
    size_t n = view->layout->topology->n_cpus;
    text_format(out, "<tr><th class=\"kind\" colspan=\"%zu\">", columns->n_sockets + 3);
    html_put(out, view->pmu);
    text_format(out, ": %zu box%s\n", n, n == 1 ? "" : "es");
    for (size_t m = 0; m < view->layout->n_metrics; m++) {
        const struct html_metric metric = {
            .type = &shown->types[type], .columns = columns, .metric = m, .number = type};
        if (view_exported(view, m))
            html_metric_put(&metric, out);
    }
}

void html_boxes_render(const struct shown *shown, struct text *out) {
    if (shown->n_boxes == 0)
        return;
    html_metrics_head(shown->types[0].view->layout->topology, "Outside the cores in the last round", out);
    for (size_t i = shown->n; i < shown_all(shown); i++)
        put_kind(shown, i, out);
    text_string(out, "</table></div>\n");
}
