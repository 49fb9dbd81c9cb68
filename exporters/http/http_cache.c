// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_cache.h"

#include <malloc.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

// Below this, memory that was given up stays with the process: it is used again sooner than the kernel is asked.
enum { TRIM_BYTES_MIN = 256 << 10 };

struct http_buffer {
    struct text text;
    struct http_cached *page;
    struct http_budget *budget;
    struct http_load load;
};

static void buffer_free(struct http_buffer *buffer) {
    if (!buffer)
        return;
    http_budget_give(buffer->budget, &buffer->load);
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
        http_budget_keep(buffer->budget, &buffer->load, true);
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
    struct http_buffer *buffer = page->sent;
    page->response = NULL;
    page->sent = NULL;
    page->generation = 0;
    if (!response)
        return;
    http_budget_keep(buffer->budget, &buffer->load, false);
    MHD_destroy_response(response);
}

// Returns how much memory was given up.
static size_t drop(struct http_cached *page) {
    size_t bytes = page->bytes;
    retire(page);
    buffer_free(page->spare);
    page->spare = NULL;
    page->bytes = 0;
    free(page->key);
    page->key = NULL;
    return bytes;
}

void http_cache_deinit(struct http_cache *cache) {
    for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++)
        drop(&cache->pages[i]);
    http_templates_deinit(&cache->templates);
}

size_t http_cache_keyed(struct http_cache *cache, char *key) {
    size_t oldest = HTTP_CACHE_SLOTS - 1;
    for (size_t i = HTTP_CACHE_SLOTS - HTTP_KEYED_SLOTS; i < HTTP_CACHE_SLOTS; i++) {
        const struct http_cached *page = &cache->pages[i];
        if (page->key && strcmp(page->key, key) == 0) {
            free(key);
            return i;
        }
        if (page->asked_ms < cache->pages[oldest].asked_ms)
            oldest = i;
    }
    (void)drop(&cache->pages[oldest]);
    cache->pages[oldest].key = key;
    return oldest;
}

struct MHD_Response *http_cache_find(struct http_cache *cache, size_t slot, uint64_t generation, uint64_t now_ms) {
    struct http_cached *cached = &cache->pages[slot];
    cached->asked_ms = now_ms;
    return cached->generation == generation ? cached->response : NULL;
}

const struct text *http_cache_text(const struct http_cache *cache, size_t slot) {
    const struct http_buffer *buffer = cache->pages[slot].sent;
    return buffer ? &buffer->text : NULL;
}

struct text *http_cache_begin(struct http_cache *cache, size_t slot) {
    struct http_cached *cached = &cache->pages[slot];
    retire(cached);
    if (!cached->spare)
        cached->spare = calloc(1, sizeof *cached->spare);
    if (!cached->spare)
        return NULL;
    cached->spare->page = cached;
    cached->spare->budget = &cache->budget;
    http_budget_keep(&cache->budget, &cached->spare->load, true);
    cached->spare->text.length = 0;
    return &cached->spare->text;
}

// Without a reader, and neither the slot's own nor the text that it is compressed from.
static bool may_go(const struct http_cache *cache, size_t i, size_t slot) {
    const struct http_cached *page = &cache->pages[i];
    bool is_source = i < HTTP_PAGE_N && slot == http_cache_gzip((enum http_page)i);
    return i != slot && !is_source && page->bytes > 0 && (!page->sent || page->sent->load.n_readers == 0);
}

// Gives up the page that nobody reads and nobody asked for longest; false if there is none.
static bool drop_unread(struct http_cache *cache, size_t slot) {
    struct http_cached *oldest = NULL;
    for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++)
        if (may_go(cache, i, slot) && (!oldest || cache->pages[i].asked_ms < oldest->asked_ms))
            oldest = &cache->pages[i];
    if (oldest)
        trim(drop(oldest));
    return oldest;
}

// Until so many bytes more fit, or nothing is left to give.
static void shrink(struct http_cache *cache, size_t slot, size_t more, uint64_t now_ms) {
    while (!http_budget_fits(&cache->budget, more) &&
           (drop_unread(cache, slot) || http_budget_reset_slowest(&cache->budget, now_ms)))
        ;
}

bool http_cache_make_room(struct http_cache *cache, size_t slot, uint64_t now_ms) {
    struct http_cached *cached = &cache->pages[slot];
    retire(cached);
    size_t own = cached->spare ? cached->spare->load.bytes : 0;
    size_t more = cached->expected > own ? cached->expected - own : 0;
    shrink(cache, slot, more, now_ms);
    return http_budget_allows(&cache->budget, more) || cache->budget.bytes == own; // one page may always be made
}

void http_cache_read(struct http_cache *cache, const struct MHD_Response *response, struct http_reader *reader,
                     uint64_t now_ms) {
    size_t slot = 0;
    while (slot + 1 < HTTP_CACHE_SLOTS && cache->pages[slot].response != response)
        slot++;
    http_budget_begin(&cache->budget, reader, &cache->pages[slot].sent->load, now_ms);
    shrink(cache, slot, 0, now_ms);
}

static size_t kept_bytes(const struct http_cache *cache) {
    size_t bytes = 0;
    for (size_t i = 0; i < HTTP_CACHE_SLOTS; i++)
        bytes += cache->pages[i].bytes;
    return bytes;
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
    cached->sent = buffer;
    cached->generation = generation;
    cached->bytes = cached->expected = buffer->text.length;
    if (buffer->text.length > buffer->load.bytes) // what was longer once is still there
        http_budget_resize(&cache->budget, &buffer->load, buffer->text.length);
    while (kept_bytes(cache) > HTTP_CACHE_BYTES_MAX && drop_unread(cache, slot))
        ;
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
        cache->templates.cpu = series_free(cache->templates.cpu);
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
