// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exporters/html/html.h"
#include "exporters/json/json_memory.h"
#include "exporters/json/json_opportunities.h"
#include "exporters/json/json_uncore.h"
#include "exporters/prometheus/prometheus.h"
#include "exporters/text/json_writer.h"
#include "exporters/view/view_types.h"

const char http_page_list[] = "There is no such page. These exist:\n"
                              "/                 the page for people\n"
                              "/plain            the verdict and level 1, for browsers without scripts\n"
                              "/metrics          for Prometheus: per socket\n"
                              "/metrics/cpu      for Prometheus: per CPU, with raw events\n"
                              "/api/v1/snapshot  JSON: the last values; ?scope=host, socket or cpu\n"
                              "/api/v1/topdown   JSON: what the CPUs are bound by, as a tree; ?scope= likewise\n"
                              "/api/v1/opportunities  JSON: what each action could win at most\n"
                              "/api/v1/cpus      JSON: one metric of all CPUs, and where they are; ?metric=, ?cpu=\n"
                              "/api/v1/history   JSON: what metrics were in the last hour or day; ?metric=, ?scope=\n"
                              "/api/v1/uncore    JSON: bytes through memory controllers and links, by socket and box\n"
                              "/api/v1/memory    JSON: what the kernel counts of NUMA nodes, and what resctrl does\n"
                              "/api/v1/plan      JSON: event groups, their schedule, and what cannot be measured here\n"
                              "/api/v1/catalog   JSON: all metrics of this CPU's spec, measured or not\n"
                              "/api/v1/status    JSON: the daemon, its CPU, PMU and configuration\n"
                              "/-/healthy        200 while the daemon runs\n"
                              "/-/ready          200 while something is counted that is to be\n";

void http_templates_deinit(struct http_templates *templates) {
    templates->cpu = series_free(templates->cpu);
    templates->host = series_free(templates->host);
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++)
        templates->views[i] = view_unref(templates->views[i]);
    templates->memory = host_memory_unref(templates->memory);
}

const struct http_page_type http_page_json = {"application/json", "Accept-Encoding"};
static const struct http_page_type HTML = {"text/html; charset=utf-8", "Accept-Encoding"},
                                   TEXT = {"text/plain; version=0.0.4; charset=utf-8", "Accept, Accept-Encoding"},
                                   OPENMETRICS = {"application/openmetrics-text; version=1.0.0; charset=utf-8",
                                                  "Accept, Accept-Encoding"};

const struct http_page_row http_pages[HTTP_PAGE_N] = {
    [HTTP_PAGE_PLAIN] = {"/plain", NULL, &HTML, .render = html_render},
    [HTTP_PAGE_METRICS] = {"/metrics", NULL, &TEXT, HTTP_PAGE_OPENMETRICS, .series = prometheus_render},
    [HTTP_PAGE_METRICS_CPU] = {"/metrics/cpu", NULL, &TEXT, HTTP_PAGE_OPENMETRICS_CPU, .series = prometheus_render,
                               .of_cpus = true},
    [HTTP_PAGE_OPENMETRICS] = {NULL, NULL, &OPENMETRICS, .series = prometheus_render_openmetrics},
    [HTTP_PAGE_OPENMETRICS_CPU] = {NULL, NULL, &OPENMETRICS, .series = prometheus_render_openmetrics, .of_cpus = true},
    [HTTP_PAGE_UNCORE] = {"/api/v1/uncore", NULL, &http_page_json, .render = json_render_uncore},
    [HTTP_PAGE_MEMORY] = {"/api/v1/memory", NULL, &http_page_json, .render = json_render_memory},
    [HTTP_PAGE_SNAPSHOT_HOST] = {"/api/v1/snapshot", "host", &http_page_json, .scoped = json_render_snapshot},
    [HTTP_PAGE_SNAPSHOT_SOCKET] = {"/api/v1/snapshot", "socket", &http_page_json, .scoped = json_render_snapshot,
                                   .json_scope = JSON_SOCKET},
    [HTTP_PAGE_SNAPSHOT_CPU] = {"/api/v1/snapshot", "cpu", &http_page_json, .scoped = json_render_snapshot,
                                .json_scope = JSON_CPU},
    [HTTP_PAGE_TOPDOWN_HOST] = {"/api/v1/topdown", "host", &http_page_json, .has_bound = true,
                                .scoped = json_render_topdown},
    [HTTP_PAGE_TOPDOWN_SOCKET] = {"/api/v1/topdown", "socket", &http_page_json, .scoped = json_render_topdown,
                                  .json_scope = JSON_SOCKET},
    [HTTP_PAGE_TOPDOWN_CPU] = {"/api/v1/topdown", "cpu", &http_page_json, .scoped = json_render_topdown,
                               .json_scope = JSON_CPU},
    [HTTP_PAGE_OPPORTUNITIES] = {"/api/v1/opportunities", NULL, &http_page_json, .document = json_render_opportunities},
    [HTTP_PAGE_PLAN] = {"/api/v1/plan", NULL, &http_page_json, .fixed = true, .document = json_render_plan},
    [HTTP_PAGE_CATALOG] = {"/api/v1/catalog", NULL, &http_page_json, .fixed = true, .document = json_render_catalog},
    [HTTP_PAGE_STATUS] = {"/api/v1/status", NULL, &http_page_json, .document = json_render_status},
};

const char *http_page_path(const char *target) {
    static const char scheme[] = "http://";
    if (strncasecmp(target, scheme, sizeof(scheme) - 1) != 0)
        return target;
    const char *path = strchr(target + sizeof(scheme) - 1, '/');
    return path ? path : "/";
}

int http_page_find(const char *path, const char *scope) {
    int unknown = -ENOENT;
    for (int page = 0; page < HTTP_PAGE_N; page++) {
        const struct http_page_row *row = &http_pages[page];
        if (!row->path || strcmp(path, row->path) != 0)
            continue;
        if (!row->scope || !scope || strcmp(scope, row->scope) == 0)
            return page;
        unknown = -EINVAL;
    }
    return unknown;
}

// What all core types are bound by.
static void put_bound(const struct shown *shown, struct text *out) {
    struct text answer = {0};
    view_types_text(shown, &answer);
    text_append(&answer, "", 1);
    text_string(out, "\"bound_text\":");
    json_put_string(out, answer.failed ? NULL : answer.data);
    text_string(out, ",");
    out->failed = out->failed || answer.failed;
    text_free(&answer);
}

static int put_document(const struct http_page_row *row, const struct shown *shown, size_t type, struct text *out) {
    return row->scoped ? row->scoped(shown, type, row->json_scope, out) : row->document(shown, type, out);
}

static int put_documents(const struct http_page_row *row, const struct shown *shown, struct text *out) {
    if (!shown->types[0].view->core_type)
        return put_document(row, shown, 0, out);
    int r = 0;
    text_string(out, "{");
    if (row->has_bound)
        put_bound(shown, out);
    text_string(out, "\"core_types\":[\n");
    for (size_t i = 0; i < shown->n && r == 0; i++) {
        text_string(out, i > 0 ? "," : "");
        r = put_document(row, shown, i, out);
    }
    text_string(out, "]}\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

static int put_series(const struct http_page_row *row, struct http_templates *templates, const struct shown *shown,
                      struct text *out) {
    struct series **template = row->of_cpus ? &templates->cpu : &templates->host;
    bool current = host_memory_same_series(templates->memory, shown->memory);
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++)
        current = current && templates->views[i] == (i < shown_all(shown) ? shown->types[i].view : NULL);
    if (!current) {
        http_templates_deinit(templates);
        for (size_t i = 0; i < shown_all(shown); i++)
            templates->views[i] = view_ref(shown->types[i].view);
        templates->memory = host_memory_ref(shown->memory);
    }
    if (!*template)
        *template = series_new(shown, row->of_cpus);
    return *template ? row->series(*template, shown, out) : -ENOMEM;
}

int http_page_render(enum http_page page, struct http_templates *templates, const struct shown *shown,
                     struct text *out) {
    const struct http_page_row *row = &http_pages[page];
    return row->render   ? row->render(shown, out)
           : row->series ? put_series(row, templates, shown, out)
                         : put_documents(row, shown, out);
}
