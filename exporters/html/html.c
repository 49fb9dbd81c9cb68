// SPDX-License-Identifier: Apache-2.0
//
// All text from a file or from the host goes through put(). Links are relative, so that a reverse proxy may put the
// page below a path.

#include "exporters/html/html.h"

#include <errno.h>
#include <math.h>

#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"
#include "exporters/view/view_sockets.h"
#include "exporters/view/view_types.h"

static const char HEAD[] = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<meta name=\"color-scheme\" content=\"light dark\">\n"
                           "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"ui/page.css\">\n<title>";

static const char LINKS[] =
    "<section class=\"card\"><h2>More</h2>\n<ul>\n"
    "<li><a href=\"./\">The page</a> for browsers with scripts: over time, where, why, how far to trust it\n"
    "<li><a href=\"metrics\">/metrics</a> for Prometheus: all families, per socket\n"
    "<li><a href=\"metrics/cpu\">/metrics/cpu</a> for Prometheus: per CPU, with raw events\n"
    "<li><a href=\"api/v1/topdown\">/api/v1/topdown</a> what the CPUs are bound by, as a tree; also "
    "<a href=\"api/v1/topdown?scope=socket\">per socket</a>, <a href=\"api/v1/topdown?scope=cpu\">per CPU</a>\n"
    "<li><a href=\"api/v1/snapshot\">/api/v1/snapshot</a> the last values as JSON; also "
    "<a href=\"api/v1/snapshot?scope=socket\">per socket</a>, <a href=\"api/v1/snapshot?scope=cpu\">per CPU</a>\n"
    "<li><a href=\"api/v1/history\">/api/v1/history</a> what metrics were in the last hour or day\n"
    "<li><a href=\"api/v1/uncore\">/api/v1/uncore</a> what memory controllers, caches and links tell\n"
    "<li><a href=\"api/v1/memory\">/api/v1/memory</a> what the kernel counts of NUMA nodes, and what resctrl does\n"
    "<li><a href=\"api/v1/catalog\">/api/v1/catalog</a> all metrics of this CPU's spec, measured or not\n"
    "<li><a href=\"api/v1/plan\">/api/v1/plan</a> event groups, their schedule, and what cannot be measured here\n"
    "<li><a href=\"api/v1/status\">/api/v1/status</a> the daemon, its CPU, PMU and configuration\n"
    "<li><a href=\"-/ready\">/-/ready</a> whether topdownd counts what it is configured to count\n"
    "</ul></section>\n</main></body></html>\n";

static void put(struct text *out, const char *string) {
    static const struct text_escape escapes[] = {{'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"},
                                                 {'"', "&quot;"}, {'\'', "&#39;"}, {0, NULL}};
    text_escaped(out, string, escapes);
}

// Appends a text of the view and frees it.
static void put_text(struct text *out, struct text *text) {
    text_append(text, "", 1);
    out->failed = out->failed || text->failed;
    if (!text->failed)
        put(out, text->data);
    text_free(text);
}

static void put_sentence(struct text *out, const char *words) {
    const char first[] = {words[0] >= 'a' && words[0] <= 'z' ? (char)(words[0] - 'a' + 'A') : words[0], '\0'};
    put(out, first);
    put(out, words + 1);
    text_string(out, ".");
}

static void put_alert(struct text *out, const char *name, const char *text, const char *remedy) {
    text_string(out, "<p class=\"alert\"><b>");
    put(out, name);
    text_string(out, "</b> ");
    put(out, text);
    text_string(out, ". ");
    if (remedy)
        put_sentence(out, remedy);
    text_string(out, "\n");
}

static void put_head(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const char *host = view->hostname ? view->hostname : "an unknown host";
    char time[VIEW_TIME_MAX];
    text_string(out, HEAD);
    put(out, host);
    text_string(out, ": topdownd</title></head>\n<body><header><b>topdownd on ");
    put(out, host);
    text_string(out, "</b><a href=\"./\">The page with scripts</a></header>\n<main>\n");
    if (view_time(snapshot->taken_seconds, time))
        text_format(out, "<p class=\"soft\">Values of %s. Reload for newer ones.\n", time);
    if (view->simulated)
        put_alert(out, "Simulated data.",
                  "No hardware is measured: every number here comes from a scenario, and every series carries "
                  "simulated=\"true\"",
                  NULL);
    if (view->replayed)
        put_alert(out, "A replay.", "This was measured at another time: every series carries replay=\"true\"", NULL);
}

static void put_troubles(const struct shown *shown, struct text *out) {
    struct view_trouble troubles[VIEW_TROUBLES_MAX];
    for (size_t i = 0; i < shown->n; i++) {
        size_t n = view_troubles(shown->types[i].view, shown->types[i].snapshot, i, troubles);
        for (size_t k = 0; k < n; k++)
            put_alert(out, troubles[k].name, troubles[k].text, troubles[k].remedy);
    }
}

// Why nothing is measured, or not all of it.
static void put_state(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    if (snapshot->sequence == 0)
        put_alert(out, "Nothing has been measured yet:", "the first round has not ended", NULL);
    else if (snapshot->stale)
        put_alert(out, "Nothing new:", absent_text(ABSENT_STALE), NULL);
    for (size_t i = 0; i < view->n_pmu_errors; i++)
        if (!view->pmu_errors[i].uncore) // of what a virtual machine lacks
            put_alert(out, view->pmu_errors[i].pmu, view->pmu_errors[i].text, NULL);
}

static void put_since(const struct verdict_since *since, struct text *out) {
    char time[VIEW_TIME_MAX];
    if (view_time(since->seconds, time))
        text_format(out, "<p class=\"since\">%s %s\n", since->at_least ? "At least since" : "Since", time);
}

static void put_next(const struct view *view, unsigned metric, struct text *out) {
    struct text groups = {0}, command = {0};
    bool any = view_next_text(view, metric, &groups);
    text_string(out, any ? "<p>Next, " : "<p>");
    put_text(out, &groups);
    text_string(out, any ? ". Which code is it?\n<div class=\"command\"><code>"
                         : "Which code is it?\n<div class=\"command\"><code>");
    view_sample_command(view, metric, &command);
    put_text(out, &command);
    text_string(out, "</code></div>\n");
}

static void put_verdict(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct verdict *verdict = &shown->types[type].snapshot->verdicts[0].now;
    struct text answer = {0};
    (void)view_sockets_verdict(shown, &shown->types[type], &answer);
    text_string(out, "<p class=\"verdict\">");
    put_text(out, &answer);
    text_string(out, "\n");
    put_since(&verdict->since, out);
    if (verdict->n > 0)
        put_next(view, verdict->path[verdict->n - 1], out);
}

static double share_of(const struct view *view, const struct snapshot *snapshot, size_t scope, unsigned metric) {
    int place = view->layout->plan->place[metric];
    return place < 0 ? NAN : snapshot->values[snapshot_metric(view->layout, scope, (size_t)place)];
}

static void put_shares(const struct view *view, const struct snapshot *snapshot, unsigned metric, struct text *out) {
    text_string(out, "<tr><th scope=\"row\">");
    put(out, view_title(&view->layout->catalog->metrics[metric]));
    for (size_t scope = 0; scope <= view->layout->topology->n_sockets; scope++) {
        double share = share_of(view, snapshot, scope, metric);
        if (isfinite(share))
            text_format(out, "<td class=\"n\">%.1f %%", 100 * share);
        else
            text_string(out, "<td class=\"n\">no value");
    }
    text_string(out, "\n");
}

// Of the host and of each socket.
static void put_level1(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = view->layout->topology;
    const struct catalog_level1 *level1 = &view->layout->catalog->level1;
    if (view->layout->plan->level1_unit < 0)
        return;
    text_string(out, "<h2>Pipeline slots in the last round</h2>\n<div class=\"wide\"><table><tr><td>"
                     "<th scope=\"col\" class=\"n\">host");
    for (size_t s = 0; s < topology->n_sockets; s++)
        text_format(out, "<th scope=\"col\" class=\"n\">socket %u", topology->sockets[s].id);
    text_string(out, "\n");
    for (size_t i = 0; i < view->layout->n_level1; i++)
        put_shares(view, snapshot, level1->categories[i].metric, out);
    text_string(out, "</table></div>\n");
}

static void put_type(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    text_string(out, "<section class=\"card\"><h2>");
    put(out, view->core_type ? "Core type " : "What this host is bound by");
    put(out, view->core_type ? view->core_type : "");
    text_string(out, "</h2>\n");
    put_state(view, snapshot, out);
    put_verdict(shown, type, out);
    put_level1(view, snapshot, out);
    text_string(out, "</section>\n");
}

int html_render(const struct shown *shown, struct text *out) {
    put_head(shown->types[0].view, shown->types[0].snapshot, out);
    put_troubles(shown, out);
    if (shown->types[0].view->core_type) {
        struct text answer = {0};
        view_types_text(shown, &answer);
        text_string(out, "<section class=\"card\"><h2>What this host is bound by</h2>\n<p class=\"verdict\">");
        put_text(out, &answer);
        text_string(out, "</section>\n");
    }
    for (size_t i = 0; i < shown->n; i++)
        put_type(shown, i, out);
    text_string(out, LINKS);
    return out->failed ? -ENOMEM : 0;
}
