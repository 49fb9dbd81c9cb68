// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_RENDER_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_RENDER_H

// Makes the responses of pages: each page and format once for each publication, compressed once from that text, and
// kept in the cache for all who ask.

#include <stdatomic.h>

#include "exporters/history/shown_history.h"
#include "exporters/http/http_accept.h"
#include "exporters/http/http_cache.h"
#include "exporters/http/http_newest.h"
#include "exporters/json/json_cpus.h"
#include "exporters/web/web.h"

// Of a query: a response, or the mistake in it, cut.
struct http_query_answer {
    struct MHD_Response *response;
    char error[ERROR_TEXT_MAX];
};

struct http_renderer {
    struct http_cache cache;
    struct shown_history *history; // borrowed
    const struct web *web;         // borrowed: whose headers pages have; NULL: none. A change gives up the cache
    atomic_size_t renders;         // how often a page has been rendered; another thread may read it
};

// Finds the page in this coding, which is not HTTP_CODING_NONE, or makes it. The cache owns the response. Returns 0,
// -ENOMEM, or -EBUSY if answers that are still read leave no room for another.
int http_render(struct http_renderer *renderer, enum http_page page, enum http_coding coding,
                const struct http_publication *publication, uint64_t now_ms, struct MHD_Response **out);

// The same for what a query asks of the history: who asks the same of the same publication gets the same bytes. Also
// -EINVAL, with the mistake.
int http_render_history(struct http_renderer *renderer, const struct shown_history_query *query,
                        enum http_coding coding, const struct http_publication *publication, uint64_t now_ms,
                        struct http_query_answer *out);

// The same for one metric of all CPUs, or all values of one CPU.
int http_render_cpus(struct http_renderer *renderer, const struct json_cpus_query *query, enum http_coding coding,
                     const struct http_publication *publication, uint64_t now_ms, struct http_query_answer *out);

// Sends what one of these has just made, or where it returned another `r` than 0, why there is nothing.
enum MHD_Result http_render_send(struct http_renderer *renderer, struct MHD_Connection *connection, int r,
                                 struct MHD_Response *response, uint64_t now_ms);

#endif
