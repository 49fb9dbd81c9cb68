// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_RENDER_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_RENDER_H

// Makes the responses of pages: each page and format once for each publication, compressed once from that text, and
// kept in the cache for all who ask.

#include <stdatomic.h>

#include "exporters/http/http_accept.h"
#include "exporters/http/http_cache.h"
#include "exporters/http/http_history.h"
#include "exporters/http/http_newest.h"
#include "exporters/web/web.h"

struct http_renderer {
    struct http_cache cache;
    struct http_history *history; // borrowed
    const struct web *web;        // borrowed: whose headers pages have; NULL: none. A change gives up the cache
    atomic_size_t renders;        // how often a page has been rendered; another thread may read it
};

// Finds the page in this coding, which is not HTTP_CODING_NONE, or makes it. The cache owns the response. NULL if out
// of memory.
struct MHD_Response *http_render(struct http_renderer *renderer, enum http_page page, enum http_coding coding,
                                 const struct http_publication *publication, uint64_t now_ms);

#endif
