// SPDX-License-Identifier: Apache-2.0
//
// One page for any browser, usable without a network: the styles are in the page, and bars are widths in per cent. The
// script (page.js) replaces what is in <main>. All text from a file or from the host goes through html_put().

#include "exporters/html/html.h"
#include "exporters/html/html_parts.h"
#include "exporters/view/view_types.h"

#include <errno.h>
#include <math.h>

static const char HEAD[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>topdownd</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<style>\n"
    ":root{--ink:#1b1f24;--paper:#fff;--soft:#667;--line:#d6dae0;--warn:#fff1d6;--warnline:#c77700;"
    "--f:#e08a00;--s:#8e4fa8;--r:#9aa5b1;--b:#1f5fa8;--t:#5c6b1f}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e7eb;--paper:#15181c;--soft:#9aa4b0;--line:#343a42;"
    "--warn:#3a2c10;--warnline:#e0a040;--f:#f0a840;--s:#c08ae0;--r:#7d8894;--b:#6aa5e8;--t:#aab85c}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70em;margin:1.5em auto;"
    "padding:0 1em;overflow-wrap:anywhere}\n"
    "h1{font-size:1.4em;margin:0}h2~h1{margin-top:1.6em}details.script{margin-top:1.2em}h2{font-size:1.1em;margin:1."
    "6em 0 .4em}a{color:var(--b)}\n"
    "table{border-collapse:collapse}td,th{padding:.15em .9em .15em 0;text-align:left;border-bottom:1px solid "
    "var(--line);vertical-align:top}\n"
    "th{font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.soft{color:var(--"
    "soft)}td:first-child,th{overflow-wrap:normal}\n"
    "@media(max-width:50em){table{display:block;overflow-x:auto}td,th{overflow-wrap:normal}}\n"
    "@media(max-width:40em){.metrics{display:block}.metrics tbody{display:block}.metrics "
    "tr{display:block;border-bottom:1px solid "
    "var(--line);padding:.2em 0}.metrics th{display:none}.metrics "
    "td{border:0;display:inline;padding-right:.6em;white-space:normal}"
    ".metrics td:first-child{display:block}.metrics td.n::before{content:attr(data-socket) \": \";color:var(--soft)}"
    ".plot text{font-size:24px!important}}\n"
    ".warn{background:var(--warn);border-left:4px solid var(--warnline);padding:.4em .8em;margin:.8em 0}\n"
    ".bar{display:flex;height:1.4em;max-width:50em;background:var(--line)}.bar span{display:block;height:100%}\n"
    "ul.tree{list-style:none;margin:.4em 0;padding:0}ul.tree ul{list-style:none;padding-left:1.4em}\n"
    ".tree .bar{display:inline-flex;width:12em;height:.7em;margin-right:.6em}.high{font-weight:600}"
    ".clocks{background:repeating-linear-gradient(45deg,var(--soft) 0 3px,transparent 3px 6px)}"
    ".slots{background:var(--b)}\n"
    ".nb{white-space:nowrap}.key{display:inline-block;width:.8em;height:.8em;margin-right:.4em}\n"
    ".c0{background:var(--f)}.c1{background:var(--s)}.c2{background:var(--r)}.c3{background:var(--b)}"
    "button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:left}"
    "[data-metric] button{text-decoration:underline dotted}button:focus-visible,summary:focus-visible{outline:2px "
    "solid var(--b)}\n"
    "#map{display:flex;flex-wrap:wrap;gap:2px;margin:.5em 0}#map "
    "button{width:2.6em;text-align:center;font-size:12px;border:1px solid "
    "var(--line);background:linear-gradient(to top,var(--f) var(--share,0%),transparent 0)}#map "
    ".unknown{border-style:dashed}\n"
    ".lines path{fill:none;stroke-width:1.5}.l0{stroke:var(--b)}.l1{stroke:var(--f);stroke-dasharray:6 "
    "2}.l2{stroke:var(--s);stroke-dasharray:2 "
    "2}.l3{stroke:var(--ink);stroke-dasharray:8 2 2 2}.t0{border-bottom:2px solid var(--b)}.t1{border-bottom:2px "
    "dashed var(--f)}"
    ".t2{border-bottom:2px dotted var(--s)}.t3{border-bottom:2px double var(--ink)}.t0,.t1,.t2,.t3{margin-right:1em}\n"
    ".c4{background:var(--t)}.f0{fill:var(--f)}.f1{fill:var(--s)}.f2{fill:var(--r)}.f3{fill:var(--b)}\n"
    ".plot{width:100%;max-width:58em;background:var(--line)}.plot text{fill:var(--ink);font-size:11px}.plot "
    "line{stroke:var(--ink);"
    "stroke-dasharray:3 3}.marks{margin:.2em 0;padding-left:2em}\n</style></head>\n";

static const char MAP[] =
    "</main>\n<section id=\"history\" aria-live=\"off\"></section>\n"
    "<details class=\"script\" hidden data-key=\"map\"><summary><b>All CPUs</b></summary>\n"
    "<p><label>Metric <select id=\"map-metric\"></select></label> <label>in order of <select id=\"map-order\">"
    "<option value=\"cpu\">number<option value=\"socket\">socket<option value=\"value\">value</select></label> "
    "<span class=\"soft\" id=\"map-scale\"></span>\n<div id=\"map\"></div><p id=\"map-text\">\n<div "
    "id=\"map-shown\"></div></details>\n";

static const char LINKS[] =
    "<h2>More</h2>\n<table>\n"
    "<tr><td><a href=\"/metrics\">/metrics</a><td>for Prometheus: all families, per socket\n"
    "<tr><td><a href=\"/metrics/cpu\">/metrics/cpu</a><td>for Prometheus: per CPU, with raw events\n"
    "<tr><td><a href=\"/api/v1/snapshot\">/api/v1/snapshot</a><td>the last values as JSON; also "
    "<a href=\"/api/v1/snapshot?scope=socket\">per socket</a>, <a href=\"/api/v1/snapshot?scope=cpu\">per CPU</a>\n"
    "<tr><td><a href=\"/api/v1/topdown\">/api/v1/topdown</a><td>what the CPUs are bound by, as a tree; also "
    "<a href=\"/api/v1/topdown?scope=socket\">per socket</a>, <a href=\"/api/v1/topdown?scope=cpu\">per CPU</a>\n"
    "<tr><td><a href=\"/api/v1/catalog\">/api/v1/catalog</a><td>all metrics of this CPU's spec, measured or not\n"
    "<tr><td><a href=\"/api/v1/plan\">/api/v1/plan</a><td>event groups, their schedule, and what cannot be measured "
    "here\n"
    "<tr><td><a href=\"/api/v1/status\">/api/v1/status</a><td>the daemon, its CPU, PMU and configuration\n"
    "<tr><td><a href=\"/-/healthy\">/-/healthy</a><td>200 while the daemon runs\n"
    "<tr><td><a href=\"/-/ready\">/-/ready</a><td>200 once a round has been measured\n"
    "</table>\n<script src=\"/page.js\"></script></body></html>\n";

static void put_row(struct text *out, const char *name, const char *value) {
    text_string(out, "<tr><th>");
    html_put(out, name);
    text_string(out, "<td>");
    html_put(out, value);
    text_string(out, "\n");
}

static void render_banner(const struct view *view, struct text *out) {
    text_string(out, "<h1>topdownd on ");
    html_put(out, view->hostname);
    text_string(out, "</h1>\n<p class=\"soft script\" id=\"state\" hidden></p>\n<main id=\"live\">\n");
    if (view->simulated)
        text_string(out,
                    "<p class=\"warn\"><b>Simulated data.</b> No hardware is measured: every number here comes from "
                    "a scenario, and every series carries simulated=\"true\".\n");
    if (view->replayed)
        text_string(out, "<p class=\"warn\"><b>A replay.</b> This was measured at another time: every series carries "
                         "replay=\"true\".\n");
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

static void render_left_out(const struct topology *topology, struct text *out) {
    size_t excluded = 0, isolated = 0;
    for (size_t s = 0; s < topology->n_sockets; s++) {
        excluded += topology->sockets[s].excluded;
        isolated += topology->sockets[s].isolated;
    }
    if (isolated > 0)
        text_format(out, "%zu isolated, ", isolated);
    text_format(out, "%zu excluded\n", excluded);
}

static void render_cpus(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = view->layout->topology;
    double offline = view_offline(view, snapshot);
    text_format(out, "<tr><th>CPUs<td>%zu measured on %zu socket%s, ", topology->n_cpus, topology->n_sockets,
                topology->n_sockets == 1 ? "" : "s");
    if (offline > 0)
        text_format(out, "%.0f of them offline in the last round, ", offline);
    render_left_out(topology, out);
}

static void render_counters(const struct view *view, struct text *out) {
    text_string(out, "<tr><th>PMU<td>");
    html_put(out, view->pmu);
    if (view->counters.total > 0)
        text_format(out, ", %u of %u counters usable", view->counters.usable, view->counters.total);
    text_string(out, "\n");
}

static void render_mode(const struct view *view, struct text *out) {
    if (!view->adapt)
        return;
    text_string(out, "; adaptive");
    bool any = false;
    for (size_t i = 0; i < view->adapt->n_groups; i++) {
        const struct adapt_group *group = &view->adapt->groups[i];
        if (!group->raised || !adapt_gains(view->layout->plan, group->group))
            continue;
        text_string(out, any ? ", " : ", raised: ");
        html_put(out, view->layout->catalog->groups[group->group].name);
        text_string(out, " (");
        html_put(out, view->layout->catalog->metrics[group->metric].export_name);
        text_string(out, " was high)");
        any = true;
    }
    text_string(out, any ? "" : ", nothing is raised");
}

static void render_rotation(const struct plan *plan, size_t n_groups, struct text *out) {
    text_format(out, "%zu event group%s, slots of ", n_groups, n_groups == 1 ? "" : "s");
    html_put_number(out, (double)plan->slot_ns / 1e6);
    text_string(out, " ms, a round takes ");
    html_put_number(out, (double)plan->round_ns / 1e9);
    text_string(out, " s, ");
    html_put_number(out, (double)plan->idle_ns / 1e6);
    text_string(out, " ms of it with no counter held");
}

static void render_schedule(const struct view *view, struct text *out) {
    const struct plan *plan = view->layout->plan;
    size_t rotating = plan_n_rotating(plan), standing = plan->n_groups - rotating;
    text_string(out, "<tr><th>Schedule<td>");
    if (standing > 0)
        text_format(out, "%zu event group%s always on, read every ", standing, standing == 1 ? "" : "s");
    if (standing > 0)
        html_put_number(out, (double)plan->round_ns / 1e9);
    if (standing > 0)
        text_string(out, rotating > 0 ? " s; " : " s");
    if (standing == 0 || rotating > 0)
        render_rotation(plan, rotating, out);
    render_mode(view, out);
    text_string(out, "\n");
}

static void render_coverage(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    double covered = snapshot->values[snapshot_covered(view->layout, 0)];
    if (!isfinite(covered))
        return;
    text_string(out, "<tr><th>Coverage<td>");
    html_put_number(out, covered);
    text_string(out, " CPU seconds; uncovered:");
    for (int reason = 0; reason < UNCOVERED_N; reason++) {
        double seconds = snapshot->values[snapshot_uncovered(view->layout, 0, (enum uncovered)reason)];
        text_format(out, "%s %s ", reason ? "," : "", uncovered_name((enum uncovered)reason));
        html_put_number(out, isfinite(seconds) ? seconds : 0);
        text_string(out, " s");
    }
    text_string(out, "\n");
}

static void render_facts(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    text_string(out, "<h2>What is measured</h2>\n<table>\n<tr><th>CPU<td>");
    html_put(out, view->cpu_vendor);
    text_string(out, " ");
    html_put(out, view->cpu_model);
    text_string(out, "\n");
    put_row(out, "Spec", view->layout->catalog->product.spec);
    render_cpus(view, snapshot, out);
    render_counters(view, out);
    put_row(out, "Profile", view->profile);
    render_schedule(view, out);
    text_format(out, "<tr><th>Snapshots<td>%llu\n", (unsigned long long)snapshot->sequence);
    render_coverage(view, snapshot, out);
    put_row(out, "Version", view->version);
    text_string(out, "</table>\n");
}

// The last round's share of a level-1 metric; NaN if there is none or it is not selected.
static double share_of(const struct view *view, const struct snapshot *snapshot, size_t scope, unsigned metric) {
    int place = view->layout->plan->place[metric];
    return place < 0 ? NAN : snapshot->values[snapshot_metric(view->layout, scope, (size_t)place)];
}

static void render_bar(const struct view *view, const struct snapshot *snapshot, size_t scope, struct text *out) {
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    text_string(out, "<div class=\"bar\">");
    for (size_t i = 0; i < view->layout->n_level1; i++) {
        double share = share_of(view, snapshot, scope, level1->categories[i].metric);
        if (share > 0)
            text_format(out, "<span class=\"c%d\" style=\"width:%.2f%%\"></span>", (int)level1->categories[i].category,
                        100 * fmin(share, 1));
    }
    text_string(out, "</div>\n<p>");
    for (size_t i = 0; i < view->layout->n_level1; i++) {
        double share = share_of(view, snapshot, scope, level1->categories[i].metric);
        enum category category = level1->categories[i].category;
        text_format(out, "<span class=\"nb\"><span class=\"key c%d\"></span>%s ", (int)category,
                    category_name(category));
        if (isfinite(share))
            text_format(out, "%.1f %%</span> &nbsp; ", 100 * share);
        else
            text_string(out, "<span class=\"soft\">no value</span></span> &nbsp; ");
    }
    text_string(out, "\n");
    double contention = level1->per_thread ? share_of(view, snapshot, scope, (unsigned)level1->contention) : NAN;
    if (isfinite(contention))
        text_format(out,
                    "<p class=\"soft\">Beside these, threads lost %.1f %% of the slots of their own clock cycles to "
                    "their siblings.\n",
                    100 * contention);
}

static void render_level1(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = view->layout->topology;
    if (view->layout->plan->level1_unit < 0)
        return; // the list of metrics gives the reason
    text_string(out, "<h2>Pipeline slots in the last round</h2>\n");
    if (view_composite(view))
        text_string(out,
                    "<p class=\"soft\">Composite: this host has too few counters for all categories at once, so they "
                    "come from adjacent windows.\n");
    for (size_t s = 0; s < topology->n_sockets; s++) {
        text_format(out, "<p><b>Socket %u</b>\n", topology->sockets[s].id);
        render_bar(view, snapshot, snapshot_scope_socket(s), out);
    }
}

static void render_metric(const struct view *view, const struct snapshot *snapshot, size_t i, struct text *out) {
    const struct catalog_metric *metric = view_metric(view, i);
    char unit[VIEW_UNIT_MAX];
    view_metric_unit(metric, unit, sizeof(unit));
    text_string(out, "<tr title=\"");
    html_put(out, metric->help);
    text_string(out, "\"><td data-metric=\"");
    html_put(out, metric->export_name);
    text_string(out, "\">");
    html_put(out, metric->export_name);
    const char *reason = "";
    for (size_t s = 0; s < view->layout->topology->n_sockets; s++) {
        size_t scope = snapshot_scope_socket(s);
        double value = snapshot->values[snapshot_metric(view->layout, scope, i)];
        text_format(out, "<td data-socket=\"socket %u\" class=\"n\">", view->layout->topology->sockets[s].id);
        if (isfinite(value)) {
            html_put_number(out, value);
            html_put_margin(out, metric, value, snapshot->values[snapshot_high(view->layout, scope, i)], 1);
            continue;
        }
        text_string(out, "&ndash;");
        if (!reason[0])
            reason = view_absent_text(view, snapshot, scope, i);
    }
    text_string(out, "<td>");
    html_put(out, unit);
    text_string(out, "<td class=\"soft\">");
    html_put(out, reason);
    text_string(out, "\n");
}

// The number of metrics to show that can (plannable) or cannot be measured.
static size_t count_metrics(const struct view *view, bool plannable) {
    size_t n = 0;
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        n += view_exported(view, i) && view_plannable(view, i) == plannable;
    return n;
}

static void render_metrics(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = view->layout->topology;
    if (count_metrics(view, true) == 0)
        return;
    text_string(out, "<h2>Metrics of the last round</h2>\n<table class=\"metrics\">\n<tr><th>Metric");
    for (size_t s = 0; s < topology->n_sockets; s++)
        text_format(out, "<th>Socket %u", topology->sockets[s].id);
    text_string(out, "<th>Unit<th>Why there is no value\n");
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (view_exported(view, i) && view_plannable(view, i))
            render_metric(view, snapshot, i, out);
    text_string(out, "</table>\n");
}

static void render_not_plannable(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    if (count_metrics(view, false) == 0)
        return;
    text_string(out, "<h2>Metrics that cannot be measured now</h2>\n<table>\n<tr><th>Metric<th>Why\n");
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (view_exported(view, i) && !view_plannable(view, i))
            put_row(out, view_metric(view, i)->export_name, view_absent_text(view, snapshot, 0, i));
    text_string(out, "</table>\n");
}

static void render_not_live(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct snapshot_layout *layout = view->layout;
    bool any = false;
    for (size_t e = 0; e < layout->n_events; e++) {
        enum event_trouble trouble = view_trouble(view, snapshot, e);
        if (trouble == EVENT_TROUBLE_N)
            continue;
        text_string(out, any ? "" : "<h2>Events that yield no samples</h2>\n<table>\n<tr><th>Event<th>State<th>Why\n");
        text_string(out, "<tr><td>");
        html_put(out, layout->catalog->events[layout->events[e]].name);
        text_format(out, "<td>%s<td>%s\n", event_trouble_name(trouble), view_trouble_text(trouble));
        any = true;
    }
    text_string(out, any ? "</table>\n" : "");
}

static int render_type(const struct view *view, const struct snapshot *snapshot, const struct view_history *history,
                       struct text *out) {
    render_state(view, snapshot, out);
    render_attention(view, snapshot, out);
    int r = html_tree_render(view, snapshot, out);
    if (history)
        html_history_render(view, history, out);
    render_level1(view, snapshot, out);
    render_facts(view, snapshot, out);
    render_metrics(view, snapshot, out);
    render_not_plannable(view, snapshot, out);
    render_not_live(view, snapshot, out);
    return r;
}

// On a host with several core types, what all of them are bound by.
static int render_types(const struct shown *shown, struct text *out) {
    struct text answer = {0};
    int r = view_types_text(shown, &answer);
    text_append(&answer, "", 1);
    text_string(out, "<h2>What this host is bound by</h2>\n<p>");
    if (r == 0 && !answer.failed)
        html_put(out, answer.data);
    text_string(out, "\n");
    out->failed = out->failed || answer.failed;
    text_free(&answer);
    return r;
}

int html_render(const struct shown *shown, struct text *out) {
    int r = 0;
    text_string(out, HEAD);
    text_format(out, "<body data-interval-ms=\"%llu\">\n",
                (unsigned long long)(shown->types[0].view->interval_ns / 1000000));
    render_banner(shown->types[0].view, out);
    if (shown->types[0].view->core_type)
        r = render_types(shown, out);
    for (size_t i = 0; i < shown->n && r == 0; i++)
        r = render_type(shown->types[i].view, shown->types[i].snapshot, shown->history, out);
    html_platform_render(shown->types[0].view, out);
    text_string(out, MAP);
    text_string(out, LINKS);
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}
