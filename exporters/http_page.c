// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_page.h"

#include <errno.h>
#include <string.h>

#include "exporters/html.h"
#include "exporters/json.h"

const char http_page_list[] = "There is no such page. These exist:\n"
                              "/                 what is measured, and the last values\n"
                              "/metrics          for Prometheus: per socket\n"
                              "/metrics/cpu      for Prometheus: per CPU, with raw events\n"
                              "/api/v1/snapshot  JSON: the last values; ?scope=host, socket or cpu\n"
                              "/api/v1/plan      JSON: event groups, their schedule, and what cannot be measured here\n"
                              "/api/v1/status    JSON: the daemon, its CPU, PMU and configuration\n"
                              "/-/healthy        200 while the daemon runs\n"
                              "/-/ready          200 while rounds are measured\n";

const char http_page_stale[] =
    "No round has ended for more than three rounds' time: the daemon was stopped, hangs, or is "
    "overloaded.\n";

void http_templates_deinit(struct http_templates *templates) {
    templates->cpu = prometheus_page_free(templates->cpu);
    templates->host = prometheus_page_free(templates->host);
    templates->view = view_unref(templates->view);
}

static int find_scope(const char *scope) {
    if (!scope || strcmp(scope, "host") == 0)
        return HTTP_PAGE_SNAPSHOT_HOST;
    if (strcmp(scope, "socket") == 0)
        return HTTP_PAGE_SNAPSHOT_SOCKET;
    if (strcmp(scope, "cpu") == 0)
        return HTTP_PAGE_SNAPSHOT_CPU;
    return -EINVAL;
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
        {"/api/v1/status", HTTP_PAGE_STATUS},
    };
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
        if (strcmp(path, pages[i].path) == 0)
            return (int)pages[i].page;
    return strcmp(path, "/api/v1/snapshot") == 0 ? find_scope(scope) : -ENOENT;
}

const char *http_page_content_type(enum http_page page) {
    switch (page) {
    case HTTP_PAGE_ROOT:
        return "text/html; charset=utf-8";
    case HTTP_PAGE_METRICS:
    case HTTP_PAGE_METRICS_CPU:
        return "text/plain; version=0.0.4; charset=utf-8";
    default:
        return "application/json";
    }
}

static int render_metrics(struct http_templates *templates, bool per_cpu, struct view *view,
                          const struct snapshot *snapshot, struct text *out) {
    struct prometheus_page **template = per_cpu ? &templates->cpu : &templates->host;
    if (templates->view != view) {
        http_templates_deinit(templates);
        templates->view = view_ref(view);
    }
    if (!*template)
        *template = prometheus_page_new(view, per_cpu);
    return *template ? prometheus_render(*template, snapshot, out) : -ENOMEM;
}

int http_page_render(enum http_page page, struct http_templates *templates, struct view *view,
                     const struct snapshot *snapshot, struct text *out) {
    switch (page) {
    case HTTP_PAGE_ROOT:
        return html_render(view, snapshot, out);
    case HTTP_PAGE_METRICS:
        return render_metrics(templates, false, view, snapshot, out);
    case HTTP_PAGE_METRICS_CPU:
        return render_metrics(templates, true, view, snapshot, out);
    case HTTP_PAGE_PLAN:
        return json_render_plan(view, out);
    case HTTP_PAGE_STATUS:
        return json_render_status(view, snapshot, out);
    default:
        return json_render_snapshot(view, snapshot, (enum json_scope)(JSON_HOST + (page - HTTP_PAGE_SNAPSHOT_HOST)),
                                    out);
    }
}
