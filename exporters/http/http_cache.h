// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_CACHE_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_CACHE_H

// The rendered pages. Each is a response object of the HTTP library, which counts the connections that still send it:
// any number of clients, slow ones included, read the same bytes.
//
// A page's memory is used again for its next rendering, because fresh memory costs more than the text in it: the kernel
// clears each of its pages first. Memory goes back to the kernel when nobody has asked for a page for HTTP_KEPT_MS, or
// when all pages together exceed HTTP_CACHE_BYTES_MAX; then the page that nobody asked for longest goes first, of those
// that nobody reads: the others would be made again for the next client, and exist twice. A page that is still being
// sent keeps its memory until its last connection is done.
//
// A page has two slots: its text, numbered as the page, and the same compressed. A few more slots are for answers to
// questions that differ, which a key tells apart. All that exists counts in the budget (http_budget.h).

#include "exporters/http/http_budget.h"
#include "exporters/http/http_page.h"

enum { HTTP_KEPT_MS = 30000, HTTP_CACHE_BYTES_MAX = 16 << 20 };

enum { HTTP_KEYED_SLOTS = 4, HTTP_CACHE_SLOTS = 2 * HTTP_PAGE_N + HTTP_KEYED_SLOTS };

struct MHD_Response;
struct http_buffer;

struct http_cached {
    uint64_t generation;           // publication that it shows; 0: none
    struct MHD_Response *response; // NULL: none
    struct http_buffer *sent;      // of the response
    struct http_buffer *spare;     // memory for the next response, while there is none
    size_t bytes;                  // of the response or the spare
    size_t expected;               // bytes of the last rendering
    uint64_t asked_ms;
    char *key; // of a keyed slot; NULL: it is free
};

struct http_cache {
    struct http_cached pages[HTTP_CACHE_SLOTS];
    struct http_templates templates; // for the views they name
    struct http_budget budget;
};

// Gives up all pages. No connection may use one any more.
void http_cache_deinit(struct http_cache *cache);

static inline size_t http_cache_gzip(enum http_page page) { return HTTP_PAGE_N + (size_t)page; }

// The slot of this key, which the function takes over: the one that has it, or the one that nobody asked for longest.
size_t http_cache_keyed(struct http_cache *cache, char *key);

// Returns the page if it shows this generation, else NULL. Notes that it was asked for.
struct MHD_Response *http_cache_find(struct http_cache *cache, size_t slot, uint64_t generation, uint64_t now_ms);

// What the page's response sends; NULL if there is none.
const struct text *http_cache_text(const struct http_cache *cache, size_t slot);

// Gives up the older page, and others and the slowest readers, until this slot's next page fits into the budget. False
// if too much is still there now: the page must not be made.
bool http_cache_make_room(struct http_cache *cache, size_t slot, uint64_t now_ms);

// Gives up the older page and returns an empty text for the new one. The caller fills it and calls http_cache_end or
// http_cache_drop. NULL if out of memory.
struct text *http_cache_begin(struct http_cache *cache, size_t slot);

// Makes the text a response that the cache owns. NULL if out of memory.
struct MHD_Response *http_cache_end(struct http_cache *cache, size_t slot, uint64_t generation);

// A connection has begun to read the response, which is in the cache. What no longer fits into the budget gives way.
void http_cache_read(struct http_cache *cache, const struct MHD_Response *response, struct http_reader *reader,
                     uint64_t now_ms);

// Gives up the page and its memory.
void http_cache_drop(struct http_cache *cache, size_t slot);

// Gives up all pages and templates, as memory is short.
void http_cache_give_up(struct http_cache *cache);

// Gives up the pages that nobody has asked for in HTTP_KEPT_MS. Returns the milliseconds until the next one is due; -1
// if there is none.
int http_cache_expire(struct http_cache *cache, uint64_t now_ms);

#endif
