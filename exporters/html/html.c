// SPDX-License-Identifier: Apache-2.0
//
// One page for any browser, usable without a network: the styles are in the page, and bars are widths in per cent. The
// script (page.js) replaces what is in the elements of class "live". All text from a file or from the host goes through
// html_put().

#include "exporters/html/html.h"
#include "exporters/html/html_parts.h"
#include "exporters/html/html_script.h"
#include "exporters/view/view_types.h"

#include <errno.h>

static const char HEAD[] = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>";

static const char MAP[] =
    "<details class=\"script\" id=\"cpus\"><summary><b>All CPUs</b>, a map of any metric</summary>\n"
    "<div class=\"controls\"><label>Metric <select id=\"map-metric\"></select></label> <label>in order of "
    "<select id=\"map-order\"><option value=\"cpu\">number<option value=\"socket\">socket<option value=\"value\">value"
    "</select></label></div>\n<p class=\"soft\" id=\"map-scale\"></p>\n<div id=\"map\"></div>\n"
    "<p id=\"map-text\" aria-live=\"polite\"></p>\n<div id=\"map-shown\"></div></details>\n";

static const char BOXES[] = "<details class=\"script\" id=\"boxes\"><summary><b>Boxes outside the cores</b>, what each "
                            "memory controller, cache "
                            "and link tells</summary>\n<div id=\"boxes-shown\"></div></details>\n";

static const char LINKS[] =
    "<h2>More</h2>\n<table>\n"
    "<tr><td><a href=\"/metrics\">/metrics</a><td>for Prometheus: all families, per socket\n"
    "<tr><td><a href=\"/metrics/cpu\">/metrics/cpu</a><td>for Prometheus: per CPU, with raw events\n"
    "<tr><td><a href=\"/api/v1/snapshot\">/api/v1/snapshot</a><td>the last values as JSON; also "
    "<a href=\"/api/v1/snapshot?scope=socket\">per socket</a>, <a href=\"/api/v1/snapshot?scope=cpu\">per CPU</a>\n"
    "<tr><td><a href=\"/api/v1/topdown\">/api/v1/topdown</a><td>what the CPUs are bound by, as a tree; also "
    "<a href=\"/api/v1/topdown?scope=socket\">per socket</a>, <a href=\"/api/v1/topdown?scope=cpu\">per CPU</a>\n"
    "<tr><td><a href=\"/api/v1/uncore\">/api/v1/uncore</a><td>what memory controllers, caches and links tell, by "
    "socket and box\n"
    "<tr><td><a href=\"/api/v1/memory\">/api/v1/memory</a><td>what the kernel counts of NUMA nodes, and what resctrl "
    "does\n"
    "<tr><td><a href=\"/api/v1/catalog\">/api/v1/catalog</a><td>all metrics of this CPU's spec, measured or not\n"
    "<tr><td><a href=\"/api/v1/plan\">/api/v1/plan</a><td>event groups, their schedule, and what cannot be measured "
    "here\n"
    "<tr><td><a href=\"/api/v1/status\">/api/v1/status</a><td>the daemon, its CPU, PMU and configuration\n"
    "<tr><td><a href=\"/-/healthy\">/-/healthy</a><td>200 while the daemon runs\n"
    "<tr><td><a href=\"/-/ready\">/-/ready</a><td>200 once a round has been measured\n"
    "</table>\n<script src=\"/page.js\"></script></body></html>\n";

static void put_host(const struct view *view, struct text *out) {
    html_put(out, view->hostname ? view->hostname : "an unknown host");
}

static void render_banner(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    char time[VIEW_TIME_MAX];
    put_host(view, out);
    text_string(out, ": topdownd</title>\n<style>\n");
    text_append(out, html_style, html_style_length);
    text_format(out, "</style></head>\n<body data-interval-ms=\"%llu\">\n<header><h1>topdownd on ",
                (unsigned long long)(view->interval_ns / 1000000));
    put_host(view, out);
    text_string(out, "</h1><span class=\"soft script\" id=\"state\"></span></header>\n<main>\n"
                     "<div class=\"live\" id=\"live-first\">\n");
    if (view_time(snapshot->taken_seconds, time))
        text_format(out, "<p class=\"soft\">Values of %s.\n", time);
    if (view->simulated)
        text_string(out,
                    "<p class=\"warn\"><b>Simulated data.</b> No hardware is measured: every number here comes from "
                    "a scenario, and every series carries simulated=\"true\".\n");
    if (view->replayed)
        text_string(out, "<p class=\"warn\"><b>A replay.</b> This was measured at another time: every series carries "
                         "replay=\"true\".\n");
}

static void put_sentence(struct text *out, const char *words) {
    const char first[] = {words[0] >= 'a' && words[0] <= 'z' ? (char)(words[0] - 'a' + 'A') : words[0], '\0'};
    html_put(out, first);
    html_put(out, words + 1);
    text_string(out, ".");
}

static void render_troubles(const struct shown *shown, struct text *out) {
    struct view_trouble troubles[VIEW_TROUBLES_MAX];
    for (size_t i = 0; i < shown->n; i++) {
        size_t n = view_troubles(shown->types[i].view, shown->types[i].snapshot, i, troubles);
        for (size_t k = 0; k < n; k++) {
            text_string(out, "<p class=\"warn\"><b>topdownd's ");
            html_put(out, troubles[k].name);
            text_string(out, "</b>: ");
            html_put(out, troubles[k].text);
            text_string(out, ". ");
            put_sentence(out, troubles[k].remedy);
            text_string(out, "\n");
        }
    }
}

static void render_state(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    if (view->core_type) {
        text_string(out, "<h1>Core type ");
        html_put(out, view->core_type);
        text_string(out, "</h1>\n");
    }
    if (snapshot->sequence == 0)
        text_string(out, "<p class=\"warn\">Nothing has been measured yet: the first round has not ended.\n");
    else if (snapshot->stale)
        text_format(out, "<p class=\"warn\"><b>Nothing new.</b> So %s.\n", absent_text(ABSENT_STALE));
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        if (view->pmu_errors[i].uncore)
            continue; // of what a virtual machine lacks
        text_string(out, "<p class=\"warn\"><b>PMU ");
        html_put(out, view->pmu_errors[i].pmu);
        text_string(out, "</b>: ");
        html_put(out, view->pmu_errors[i].text);
        text_string(out, "\n");
    }
}

static void render_attention(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        double rate = snapshot_high_rate(snapshot, i);
        if (rate == 0 || !view_exported(view, i))
            continue;
        const struct catalog_metric *metric = view_metric(view, i);
        text_string(out, "<p class=\"warn\"><b>");
        html_put(out, view_title(metric));
        text_string(out, "</b>: ");
        html_put_number(out, rate);
        text_string(out, " a second on this host, more than ");
        html_put_number(out, metric->rate_threshold);
        text_string(out, " needs a cause. ");
        html_put(out, metric->rate_advice);
        text_string(out, "\n");
    }
}

// What an incident needs first: what, where, since when.
static int render_first(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    struct tree *tree = tree_new(view->layout);
    if (!tree)
        return -ENOMEM;
    render_state(view, snapshot, out);
    render_attention(view, snapshot, out);
    html_answer_render(shown, type, out);
    html_sockets_render(shown, type, tree->n > 0, out);
    if (shown->history)
        html_history_render(view, shown->history, out);
    if (tree->n > 0) {
        tree_evaluate(tree, snapshot, 0);
        html_tree_render(view, tree, snapshot, out);
    }
    tree_free(tree);
    return 0;
}

static void render_rest(const struct shown_type *type, struct text *out) {
    const struct view *view = type->view;
    const struct snapshot *snapshot = type->snapshot;
    if (view->core_type) {
        text_string(out, "<h1>Measured on ");
        html_put(out, view->core_type);
        text_string(out, "</h1>\n");
    }
    html_metrics_render(type, out);
    html_missing_render(view, snapshot, out);
    html_facts_render(view, snapshot, out);
    html_schedule_render(view, snapshot, out);
}

// On a host with several core types, what all of them are bound by.
static void render_types(const struct shown *shown, struct text *out) {
    struct text answer = {0};
    view_types_text(shown, &answer);
    text_string(out, "<section class=\"answer\">\n<h2>What this host is bound by</h2>\n<p class=\"verdict all\">");
    html_put_text(out, &answer);
    text_string(out, "\n</section>\n");
}

int html_render(const struct shown *shown, struct text *out) {
    int r = 0;
    text_string(out, HEAD);
    render_banner(shown->types[0].view, shown->types[0].snapshot, out);
    render_troubles(shown, out);
    if (shown->types[0].view->core_type)
        render_types(shown, out);
    for (size_t i = 0; i < shown->n && r == 0; i++)
        r = render_first(shown, i, out);
    text_string(out, "</div>\n");
    text_string(out, MAP);
    text_string(out, shown->n_boxes > 0 ? BOXES : "");
    text_string(out, "<div class=\"live\" id=\"live-rest\">\n");
    html_boxes_render(shown, out);
    for (size_t i = 0; i < shown->n; i++)
        render_rest(&shown->types[i], out);
    html_memory_render(shown, out);
    html_platform_render(shown->types[0].view, out);
    text_string(out, "</div>\n</main>\n<section id=\"history\" aria-label=\"History of a metric\"></section>\n");
    text_string(out, LINKS);
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}
