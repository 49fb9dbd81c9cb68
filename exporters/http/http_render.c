// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_render.h"

#include <errno.h>

#include "exporters/http/http_respond.h"
#include "exporters/view/gzip.h"

static int render_text(struct http_renderer *renderer, enum http_page page, const struct http_publication *publication,
                       struct text *text) {
    struct snapshot *snapshots[SHOWN_TYPES_MAX] = {NULL};
    struct shown shown = {.history = NULL};
    bool complete = true;
    for (size_t i = 0; i < publication->n; i++) {
        snapshots[i] = http_publication_snapshot(publication, i);
        complete = complete && snapshots[i];
        shown.types[i] = (struct shown_type){.view = publication->types[i].view, .snapshot = snapshots[i]};
    }
    shown_count(&shown, publication->n);
    shown.memory = complete ? snapshots[0]->memory : NULL;
    struct view_history history = {0};
    if (complete && page == HTTP_PAGE_ROOT)
        complete = http_history_last_hour(renderer->history, &shown, &history) == 0;
    shown.history = page == HTTP_PAGE_ROOT ? &history : NULL;
    int r = complete ? http_page_render(page, &renderer->cache.templates, &shown, text) : -ENOMEM;
    view_history_deinit(&history);
    for (size_t i = 0; i < publication->n; i++)
        snapshot_unref(snapshots[i]);
    return r;
}

// Puts the response into the slot and adds its headers. NULL if out of memory.
static struct MHD_Response *finish(struct http_renderer *renderer, size_t slot, enum http_page page,
                                   uint64_t generation) {
    struct MHD_Response *response = http_cache_end(&renderer->cache, slot, generation);
    if (response && http_add_headers(response, renderer->web, http_page_content_type(page)) &&
        MHD_add_response_header(response, "Vary", http_page_vary(page)) == MHD_YES &&
        (slot == (size_t)page || MHD_add_response_header(response, "Content-Encoding", "gzip") == MHD_YES))
        return response;
    return NULL;
}

static struct MHD_Response *find_text(struct http_renderer *renderer, enum http_page page,
                                      const struct http_publication *publication, uint64_t generation,
                                      uint64_t now_ms) {
    struct MHD_Response *response = http_cache_find(&renderer->cache, page, generation, now_ms);
    if (response)
        return response;
    struct text *text = http_cache_begin(&renderer->cache, page);
    atomic_fetch_add(&renderer->renders, 1);
    if (text && render_text(renderer, page, publication, text) == 0)
        response = finish(renderer, page, page, generation);
    if (!response)
        http_cache_drop(&renderer->cache, page);
    return response;
}

static struct MHD_Response *find_gzip(struct http_renderer *renderer, enum http_page page,
                                      const struct http_publication *publication, uint64_t generation,
                                      uint64_t now_ms) {
    size_t slot = http_cache_gzip(page);
    struct MHD_Response *response = http_cache_find(&renderer->cache, slot, generation, now_ms);
    if (response)
        return response;
    if (find_text(renderer, page, publication, generation, now_ms)) {
        struct text *text = http_cache_begin(&renderer->cache, slot);
        if (text && gzip_text(http_cache_text(&renderer->cache, page), text) == 0)
            response = finish(renderer, slot, page, generation);
    }
    if (!response)
        http_cache_drop(&renderer->cache, slot);
    return response;
}

struct MHD_Response *http_render(struct http_renderer *renderer, enum http_page page, enum http_coding coding,
                                 const struct http_publication *publication, uint64_t now_ms) {
    uint64_t generation = http_page_changes(page) ? publication->generation : publication->view_generation;
    return coding == HTTP_GZIP ? find_gzip(renderer, page, publication, generation, now_ms)
                               : find_text(renderer, page, publication, generation, now_ms);
}
