// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exporters/html/html.h"
#include "exporters/html/html_script.h"
#include "exporters/json/json.h"
#include "exporters/json/json_memory.h"
#include "exporters/json/json_uncore.h"
#include "exporters/text/json_writer.h"
#include "exporters/view/view_types.h"

const char http_page_list[] = "There is no such page. These exist:\n"
                              "/                 what is measured, and the last values\n"
                              "/metrics          for Prometheus: per socket\n"
                              "/metrics/cpu      for Prometheus: per CPU, with raw events\n"
                              "/api/v1/snapshot  JSON: the last values; ?scope=host, socket or cpu\n"
                              "/api/v1/topdown   JSON: what the CPUs are bound by, as a tree; ?scope= likewise\n"
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

// The page of a scope: `host` is the host's page, and the sockets' and the CPUs' follow it.
static int find_scope(const char *scope, enum http_page host) {
    if (!scope || strcmp(scope, "host") == 0)
        return (int)host;
    if (strcmp(scope, "socket") == 0)
        return (int)host + (HTTP_PAGE_SNAPSHOT_SOCKET - HTTP_PAGE_SNAPSHOT_HOST);
    if (strcmp(scope, "cpu") == 0)
        return (int)host + (HTTP_PAGE_SNAPSHOT_CPU - HTTP_PAGE_SNAPSHOT_HOST);
    return -EINVAL;
}

const char *http_page_path(const char *target) {
    static const char scheme[] = "http://";
    if (strncasecmp(target, scheme, sizeof(scheme) - 1) != 0)
        return target;
    const char *path = strchr(target + sizeof(scheme) - 1, '/');
    return path ? path : "/";
}

int http_page_find(const char *path, const char *scope) {
    static const struct {
        const char *path;
        enum http_page page;
    } pages[] = {
        {"/", HTTP_PAGE_ROOT},
        {"/metrics", HTTP_PAGE_METRICS},
        {"/metrics/cpu", HTTP_PAGE_METRICS_CPU},
        {"/api/v1/plan", HTTP_PAGE_PLAN},
        {"/api/v1/catalog", HTTP_PAGE_CATALOG},
        {"/api/v1/status", HTTP_PAGE_STATUS},
        {"/api/v1/uncore", HTTP_PAGE_UNCORE},
        {"/api/v1/memory", HTTP_PAGE_MEMORY},
        {"/page.js", HTTP_PAGE_SCRIPT},
    };
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (strcmp(path, pages[i].path) == 0)
            return (int)pages[i].page;
    if (strcmp(path, "/api/v1/snapshot") == 0)
        return find_scope(scope, HTTP_PAGE_SNAPSHOT_HOST);
    return strcmp(path, "/api/v1/topdown") == 0 ? find_scope(scope, HTTP_PAGE_TOPDOWN_HOST) : -ENOENT;
}

enum http_page http_page_openmetrics(enum http_page page) {
    return page == HTTP_PAGE_METRICS       ? HTTP_PAGE_OPENMETRICS
           : page == HTTP_PAGE_METRICS_CPU ? HTTP_PAGE_OPENMETRICS_CPU
                                           : page;
}

const char *http_page_content_type(enum http_page page) {
    switch (page) {
    case HTTP_PAGE_ROOT:
        return "text/html; charset=utf-8";
    case HTTP_PAGE_METRICS:
    case HTTP_PAGE_METRICS_CPU:
        return "text/plain; version=0.0.4; charset=utf-8";
    case HTTP_PAGE_OPENMETRICS:
    case HTTP_PAGE_OPENMETRICS_CPU:
        return "application/openmetrics-text; version=1.0.0; charset=utf-8";
    case HTTP_PAGE_SCRIPT:
        return "text/javascript; charset=utf-8";
    default:
        return "application/json";
    }
}

const char *http_page_vary(enum http_page page) {
    bool metrics = page >= HTTP_PAGE_METRICS && page <= HTTP_PAGE_OPENMETRICS_CPU;
    return metrics ? "Accept, Accept-Encoding" : "Accept-Encoding";
}

bool http_page_changes(enum http_page page) {
    return page != HTTP_PAGE_PLAN && page != HTTP_PAGE_CATALOG && page != HTTP_PAGE_SCRIPT;
}

bool http_page_has_cpu_intervals(enum http_page page) {
    return page == HTTP_PAGE_SNAPSHOT_CPU || page == HTTP_PAGE_TOPDOWN_CPU;
}

static int render_metrics(enum http_page page, struct http_templates *templates, const struct shown *shown,
                          struct text *out) {
    bool per_cpu = page == HTTP_PAGE_METRICS_CPU || page == HTTP_PAGE_OPENMETRICS_CPU;
    bool openmetrics = page == HTTP_PAGE_OPENMETRICS || page == HTTP_PAGE_OPENMETRICS_CPU;
    struct series **template = per_cpu ? &templates->cpu : &templates->host;
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
        *template = series_new(shown, per_cpu);
    if (!*template)
        return -ENOMEM;
    return openmetrics ? prometheus_render_openmetrics(*template, shown, out)
                       : prometheus_render(*template, shown, out);
}

static int render_document(enum http_page page, const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    switch (page) {
    case HTTP_PAGE_PLAN:
        return json_render_plan(shown, type, out);
    case HTTP_PAGE_CATALOG:
        return json_render_catalog(shown, type, out);
    case HTTP_PAGE_STATUS:
        return json_render_status(view, snapshot, out);
    case HTTP_PAGE_TOPDOWN_HOST:
    case HTTP_PAGE_TOPDOWN_SOCKET:
    case HTTP_PAGE_TOPDOWN_CPU:
        return json_render_topdown(shown, type, (enum json_scope)(JSON_HOST + (page - HTTP_PAGE_TOPDOWN_HOST)), out);
    default:
        return json_render_snapshot(shown, type, (enum json_scope)(JSON_HOST + (page - HTTP_PAGE_SNAPSHOT_HOST)), out);
    }
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

// Renders one document, or on a host with several core types an array with one for each.
static int render_json(enum http_page page, const struct shown *shown, struct text *out) {
    if (!shown->types[0].view->core_type)
        return render_document(page, shown, 0, out);
    int r = 0;
    text_string(out, "{");
    if (page == HTTP_PAGE_TOPDOWN_HOST)
        put_bound(shown, out);
    text_string(out, "\"core_types\":[\n");
    for (size_t i = 0; i < shown->n && r == 0; i++) {
        text_string(out, i > 0 ? "," : "");
        r = render_document(page, shown, i, out);
    }
    text_string(out, "]}\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

int http_page_render(enum http_page page, struct http_templates *templates, const struct shown *shown,
                     struct text *out) {
    switch (page) {
    case HTTP_PAGE_ROOT:
        return html_render(shown, out);
    case HTTP_PAGE_METRICS:
    case HTTP_PAGE_METRICS_CPU:
    case HTTP_PAGE_OPENMETRICS:
    case HTTP_PAGE_OPENMETRICS_CPU:
        return render_metrics(page, templates, shown, out);
    case HTTP_PAGE_SCRIPT:
        text_append(out, html_script, html_script_length);
        return out->failed ? -ENOMEM : 0;
    case HTTP_PAGE_UNCORE:
        return json_render_uncore(shown, out);
    case HTTP_PAGE_MEMORY:
        return json_render_memory(shown, out);
    default:
        return render_json(page, shown, out);
    }
}
