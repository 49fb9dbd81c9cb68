// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_cache.h"

#include <malloc.h>
#include <microhttpd.h>
#include <stdlib.h>

// Below this, memory that was given up stays with the process: it is used again sooner than the kernel is asked.
enum { TRIM_BYTES_MIN = 256 << 10 };

struct http_buffer {
    struct text text;
    struct http_cached *page;
};

static void buffer_free(struct http_buffer *buffer) {
    if (!buffer)
        return;
    text_free(&buffer->text);
    free(buffer);
}

// The C library keeps freed memory, in any of its heaps.
static void trim(size_t bytes) {
    if (bytes >= TRIM_BYTES_MIN)
        malloc_trim(0);
}

// The library calls it when no connection uses the response any more.
static void buffer_release(void *context) {
    struct http_buffer *buffer = context;
    struct http_cached *page = buffer->page;
    bool wanted = !page->response && !page->spare && page->bytes > 0;
    if (wanted) {
        page->spare = buffer;
        return;
    }
    size_t bytes = buffer->text.length;
    buffer_free(buffer);
    trim(bytes);
}

// Gives up the response; its memory becomes the spare unless a connection still sends it.
static void retire(struct http_cached *page) {
    struct MHD_Response *response = page->response;
    page->response = NULL;
    page->text = NULL;
    page->generation = 0;
    if (response)
        MHD_destroy_response(response);
}

// Returns how much memory was given up.
static size_t drop(struct http_cached *page) {
    size_t bytes = page->bytes;
    retire(page);
    buffer_free(page->spare);
    page->spare = NULL;
    page->bytes = 0;
    return bytes;
}

void http_cache_deinit(struct http_cache *cache) {
    for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++)
        drop(&cache->pages[i]);
    http_templates_deinit(&cache->templates);
}

struct MHD_Response *http_cache_find(struct http_cache *cache, size_t slot, uint64_t generation, uint64_t now_ms) {
    struct http_cached *cached = &cache->pages[slot];
    cached->asked_ms = now_ms;
    return cached->generation == generation ? cached->response : NULL;
}

const struct text *http_cache_text(const struct http_cache *cache, size_t slot) { return cache->pages[slot].text; }

struct text *http_cache_begin(struct http_cache *cache, size_t slot) {
    struct http_cached *cached = &cache->pages[slot];
    retire(cached);
    if (!cached->spare)
        cached->spare = calloc(1, sizeof *cached->spare);
    if (!cached->spare)
        return NULL;
    cached->spare->page = cached;
    cached->spare->text.length = 0;
    return &cached->spare->text;
}

// Gives up other pages, the one that nobody asked for longest first, until all fit.
static void make_room(struct http_cache *cache, const struct http_cached *newest) {
    size_t given_up = 0;
    for (;;) {
        struct http_cached *oldest = NULL;
        size_t total = 0;
        for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++) {
            struct http_cached *page = &cache->pages[i];
            total += page->bytes;
            if (page != newest && page->bytes > 0 && (!oldest || page->asked_ms < oldest->asked_ms))
                oldest = page;
        }
        if (total <= HTTP_CACHE_BYTES_MAX || !oldest)
            break;
        given_up += drop(oldest);
    }
    trim(given_up);
}

struct MHD_Response *http_cache_end(struct http_cache *cache, size_t slot, uint64_t generation) {
    struct http_cached *cached = &cache->pages[slot];
    struct http_buffer *buffer = cached->spare;
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        buffer->text.length, buffer->text.data, buffer_release, buffer);
    if (!response) {
        drop(cached);
        return NULL;
    }
    cached->spare = NULL;
    cached->response = response;
    cached->text = &buffer->text;
    cached->generation = generation;
    cached->bytes = buffer->text.length;
    make_room(cache, cached);
    return response;
}

void http_cache_drop(struct http_cache *cache, size_t slot) { trim(drop(&cache->pages[slot])); }

void http_cache_give_up(struct http_cache *cache) {
    http_cache_deinit(cache);
    trim(TRIM_BYTES_MIN);
}

// What nobody has asked for since `asked_ms` is given up when it is due; else notes in *next_ms when it is.
static bool is_due(uint64_t asked_ms, uint64_t now_ms, uint64_t *next_ms) {
    uint64_t due_ms = asked_ms + HTTP_KEPT_MS;
    if (due_ms > now_ms)
        *next_ms = due_ms < *next_ms ? due_ms : *next_ms;
    return due_ms <= now_ms;
}

// A thousand CPUs' template takes 2 MiB. Two formats share it.
static void expire_template(struct http_cache *cache, uint64_t now_ms, uint64_t *next_ms) {
    uint64_t text_ms = cache->pages[HTTP_PAGE_METRICS_CPU].asked_ms;
    uint64_t openmetrics_ms = cache->pages[HTTP_PAGE_OPENMETRICS_CPU].asked_ms;
    uint64_t asked_ms = text_ms > openmetrics_ms ? text_ms : openmetrics_ms;
    if (cache->templates.cpu && is_due(asked_ms, now_ms, next_ms))
        cache->templates.cpu = prometheus_page_free(cache->templates.cpu);
}

int http_cache_expire(struct http_cache *cache, uint64_t now_ms) {
    uint64_t next_ms = UINT64_MAX;
    size_t given_up = 0;
    for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++)
        if (cache->pages[i].bytes > 0 && is_due(cache->pages[i].asked_ms, now_ms, &next_ms))
            given_up += drop(&cache->pages[i]);
    expire_template(cache, now_ms, &next_ms);
    trim(given_up);
    return next_ms == UINT64_MAX ? -1 : (int)(next_ms - now_ms);
}
