// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_PAGE_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_PAGE_H

// Maps paths to pages and renders each page from a snapshot. Independent of the HTTP protocol.

#include "exporters/prometheus/prometheus.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"

enum http_page {
    HTTP_PAGE_ROOT,
    HTTP_PAGE_SCRIPT, // of the root page
    HTTP_PAGE_METRICS,
    HTTP_PAGE_METRICS_CPU,
    HTTP_PAGE_OPENMETRICS, // the same two in OpenMetrics
    HTTP_PAGE_OPENMETRICS_CPU,
    HTTP_PAGE_UNCORE,
    HTTP_PAGE_MEMORY,
    HTTP_PAGE_SNAPSHOT_HOST,
    HTTP_PAGE_SNAPSHOT_SOCKET,
    HTTP_PAGE_SNAPSHOT_CPU,
    HTTP_PAGE_TOPDOWN_HOST,
    HTTP_PAGE_TOPDOWN_SOCKET,
    HTTP_PAGE_TOPDOWN_CPU,
    HTTP_PAGE_PLAN,
    HTTP_PAGE_CATALOG,
    HTTP_PAGE_STATUS,
    HTTP_PAGE_N
};

// The Prometheus templates, each made on the first request for its page.
struct http_templates {
    struct view *views[SHOWN_TYPES_MAX]; // for which they were made; references
    struct host_memory *memory;          // likewise
    struct series *host, *cpu;
};
void http_templates_deinit(struct http_templates *templates);

// The path of a request's target, which may also be a whole URI (RFC 9112, 3.2.2): http://host:port/path. The host in
// it is ignored, like the Host header.
const char *http_page_path(const char *target);

// The page of a path and of the query's scope (NULL: none given). -ENOENT: no such page, -EINVAL: no such scope.
int http_page_find(const char *path, const char *scope);

// The page of /metrics or /metrics/cpu in OpenMetrics; of other pages the page itself.
enum http_page http_page_openmetrics(enum http_page page);

const char *http_page_content_type(enum http_page page);

// The request headers that the answer depends on.
const char *http_page_vary(enum http_page page);

// False if the page is the same for all snapshots of a view.
bool http_page_changes(enum http_page page);

// True if the page shows the intervals of single CPUs.
bool http_page_has_cpu_intervals(enum http_page page);

// All paths with a few words on each, for a client that asked for an unknown one.
extern const char http_page_list[];

// Appends the page. Returns 0 or -ENOMEM.
int http_page_render(enum http_page page, struct http_templates *templates, const struct shown *shown,
                     struct text *out);

#endif
