// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_PAGE_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_PAGE_H

// Maps paths to pages and renders each page from a snapshot. Independent of the HTTP protocol.

#include "exporters/json/json.h"
#include "exporters/series/series.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"

enum http_page {
    HTTP_PAGE_PLAIN,
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
    HTTP_PAGE_OPPORTUNITIES,
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

struct http_page_type {
    const char *content_type;
    const char *vary; // the request headers that the answer depends on
};
extern const struct http_page_type http_page_json;

// All that is known of a page.
struct http_page_row {
    const char *path;  // NULL: only in the place of another page
    const char *scope; // of the query; NULL: the page has none. Without one in the query a page is its first row
    const struct http_page_type *type;
    enum http_page openmetrics; // the same in OpenMetrics, for a client that prefers it; 0: there is none
    bool fixed;                 // the same for all snapshots of a view
    bool has_bound;             // of several core types: begins with what all of them are bound by
    // What appends it, one of these. They return 0 or -ENOMEM. The whole page:
    int (*render)(const struct shown *shown, struct text *out);
    // the series of the host or of its CPUs, in a format:
    int (*series)(const struct series *series, const struct shown *shown, struct text *out);
    bool of_cpus;
    // a document for one core type, of which the page is an array on a host with several:
    int (*document)(const struct shown *shown, size_t type, struct text *out);
    // the same of a scope, of which that of single CPUs shows their intervals:
    int (*scoped)(const struct shown *shown, size_t type, enum json_scope scope, struct text *out);
    enum json_scope json_scope;
};
extern const struct http_page_row http_pages[HTTP_PAGE_N];

// The path of a request's target, which may also be a whole URI (RFC 9112, 3.2.2): http://host:port/path. The host in
// it is ignored, like the Host header.
const char *http_page_path(const char *target);

// The page of a path and of the query's scope (NULL: none given). -ENOENT: no such page, -EINVAL: no such scope.
int http_page_find(const char *path, const char *scope);

// All paths with a few words on each, for a client that asked for an unknown one.
extern const char http_page_list[];

// Appends the page. Returns 0 or -ENOMEM.
int http_page_render(enum http_page page, struct http_templates *templates, const struct shown *shown,
                     struct text *out);

#endif
