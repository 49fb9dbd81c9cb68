// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_render.h"

#include <errno.h>
#include <string.h>

#include "exporters/http/http_respond.h"
#include "exporters/text/gzip.h"

// What a response is, beside its text.
struct http_made {
    uint64_t generation;
    const struct http_page_type *type;
    enum http_coding coding;
};

// What is shown of a publication, with snapshots that are too old made so. Returns 0 or -ENOMEM. The caller ends it
// with `unref_shown`.
static int take_shown(const struct http_publication *publication, struct shown *shown,
                      struct snapshot *snapshots[SHOWN_TYPES_MAX]) {
    bool complete = true;
    for (size_t i = 0; i < publication->n; i++) {
        snapshots[i] = http_publication_snapshot(publication, i);
        complete = complete && snapshots[i];
        shown->types[i] = (struct shown_type){.view = publication->types[i].view, .snapshot = snapshots[i]};
    }
    shown_count(shown, publication->n);
    shown->memory = complete ? snapshots[0]->memory : NULL;
    return complete ? 0 : -ENOMEM;
}

static void unref_shown(const struct http_publication *publication, struct snapshot *snapshots[SHOWN_TYPES_MAX]) {
    for (size_t i = 0; i < publication->n; i++)
        snapshot_unref(snapshots[i]);
}

static int render_text(struct http_renderer *renderer, enum http_page page, const struct http_publication *publication,
                       struct text *text) {
    struct snapshot *snapshots[SHOWN_TYPES_MAX] = {NULL};
    struct shown shown = {0};
    int r = take_shown(publication, &shown, snapshots);
    if (r == 0)
        r = http_page_render(page, &renderer->cache.templates, &shown, text);
    unref_shown(publication, snapshots);
    return r;
}

// Puts the response into the slot and adds its headers. Returns 0 or -ENOMEM.
static int finish(struct http_renderer *renderer, size_t slot, const struct http_made *made,
                  struct MHD_Response **out) {
    struct MHD_Response *response = http_cache_end(&renderer->cache, slot, made->generation);
    if (!response || !http_add_headers(response, renderer->web, made->type->content_type, HTTP_KEEP_NONE) ||
        MHD_add_response_header(response, "Vary", made->type->vary) != MHD_YES ||
        (made->coding == HTTP_GZIP && MHD_add_response_header(response, "Content-Encoding", "gzip") != MHD_YES))
        return -ENOMEM;
    *out = response;
    return 0;
}

static int find_text(struct http_renderer *renderer, enum http_page page, const struct http_publication *publication,
                     uint64_t generation, uint64_t now_ms, struct MHD_Response **out) {
    const struct http_made made = {generation, http_pages[page].type, HTTP_IDENTITY};
    *out = http_cache_find(&renderer->cache, page, generation, now_ms);
    if (*out)
        return 0;
    if (!http_cache_make_room(&renderer->cache, page, now_ms))
        return -EBUSY;
    struct text *text = http_cache_begin(&renderer->cache, page);
    atomic_fetch_add(&renderer->renders, 1);
    int r = text ? render_text(renderer, page, publication, text) : -ENOMEM;
    if (r == 0)
        r = finish(renderer, page, &made, out);
    if (r < 0)
        http_cache_drop(&renderer->cache, page);
    return r;
}

static int find_gzip(struct http_renderer *renderer, enum http_page page, const struct http_publication *publication,
                     uint64_t generation, uint64_t now_ms, struct MHD_Response **out) {
    const struct http_made made = {generation, http_pages[page].type, HTTP_GZIP};
    size_t slot = http_cache_gzip(page);
    *out = http_cache_find(&renderer->cache, slot, generation, now_ms);
    if (*out)
        return 0;
    struct MHD_Response *plain;
    int r = find_text(renderer, page, publication, generation, now_ms, &plain);
    if (r == 0 && !http_cache_make_room(&renderer->cache, slot, now_ms))
        return -EBUSY;
    struct text *text = r == 0 ? http_cache_begin(&renderer->cache, slot) : NULL;
    if (r == 0)
        r = text ? gzip_text(http_cache_text(&renderer->cache, page), text) : -ENOMEM;
    if (r == 0)
        r = finish(renderer, slot, &made, out);
    if (r < 0)
        http_cache_drop(&renderer->cache, slot);
    return r;
}

int http_render(struct http_renderer *renderer, enum http_page page, enum http_coding coding,
                const struct http_publication *publication, uint64_t now_ms, struct MHD_Response **out) {
    uint64_t generation = http_pages[page].fixed ? publication->view_generation : publication->generation;
    return coding == HTTP_GZIP ? find_gzip(renderer, page, publication, generation, now_ms, out)
                               : find_text(renderer, page, publication, generation, now_ms, out);
}

// ---- queries ----

// What was asked of which page, without a doubt where one part ends. NULL: out of memory.
static char *key_of(const char *page, const char *const *parts, size_t n, enum http_coding coding) {
    struct text key = {0};
    text_string(&key, page);
    for (size_t i = 0; i < n; i++)
        if (parts[i])
            text_format(&key, "%zu=%zu:%s", i, strlen(parts[i]), parts[i]);
    text_string(&key, coding == HTTP_GZIP ? "z" : "");
    text_append(&key, "", 1);
    if (key.failed)
        text_free(&key);
    return key.data;
}

// The slot of a key, which is taken, and its answer if it has one. Returns 0, -ENOENT if the answer is to be rendered
// into the slot, -ENOMEM, or -EBUSY.
static int find_query(struct http_renderer *renderer, char *key, const struct http_publication *publication,
                      uint64_t now_ms, size_t *slot, struct http_query_answer *out) {
    if (!key)
        return -ENOMEM;
    *slot = http_cache_keyed(&renderer->cache, key);
    out->response = http_cache_find(&renderer->cache, *slot, publication->generation, now_ms);
    if (out->response)
        return 0;
    if (http_cache_make_room(&renderer->cache, *slot, now_ms))
        return -ENOENT;
    http_cache_drop(&renderer->cache, *slot);
    return -EBUSY;
}

// A slot into which nothing could be rendered has no answer. Returns `r`, what rendering returned.
static int keep_query(struct http_renderer *renderer, size_t slot, int r) {
    if (r < 0)
        http_cache_drop(&renderer->cache, slot);
    return r;
}

static int render_history(struct http_renderer *renderer, size_t slot, const struct shown_history_query *query,
                          enum http_coding coding, const struct http_publication *publication,
                          struct http_query_answer *out) {
    const struct http_made made = {publication->generation, &http_page_json, coding};
    struct shown shown = {0};
    struct text *text = http_cache_begin(&renderer->cache, slot);
    for (size_t i = 0; i < publication->n; i++)
        shown.types[i] = (struct shown_type){publication->types[i].view, publication->types[i].snapshot};
    shown_count(&shown, publication->n);
    int r = text ? shown_history_render(renderer->history, query, &shown, coding == HTTP_GZIP, text, out->error,
                                        sizeof(out->error))
                 : -ENOMEM;
    if (r < 0)
        return r;
    atomic_fetch_add(&renderer->renders, 1);
    return finish(renderer, slot, &made, &out->response);
}

int http_render_history(struct http_renderer *renderer, const struct shown_history_query *query,
                        enum http_coding coding, const struct http_publication *publication, uint64_t now_ms,
                        struct http_query_answer *out) {
    const char *const parts[] = {query->scope, query->metric, query->from, query->step};
    size_t slot;
    int r = find_query(renderer, key_of("history", parts, sizeof(parts) / sizeof(parts[0]), coding), publication,
                       now_ms, &slot, out);
    return r == -ENOENT ? keep_query(renderer, slot, render_history(renderer, slot, query, coding, publication, out))
                        : r;
}

static int render_cpus(struct http_renderer *renderer, size_t slot, const struct json_cpus_query *query,
                       enum http_coding coding, const struct http_publication *publication,
                       struct http_query_answer *out) {
    const struct http_made made = {publication->generation, &http_page_json, coding};
    struct snapshot *snapshots[SHOWN_TYPES_MAX] = {NULL};
    struct shown shown = {0};
    struct text plain = {0}, *text = http_cache_begin(&renderer->cache, slot);
    int r = text ? take_shown(publication, &shown, snapshots) : -ENOMEM;
    if (r == 0)
        r = json_render_cpus(&shown, query, coding == HTTP_GZIP ? &plain : text, out->error, sizeof(out->error));
    if (r == 0 && coding == HTTP_GZIP)
        r = gzip_text(&plain, text);
    text_free(&plain);
    unref_shown(publication, snapshots);
    if (r < 0)
        return r;
    atomic_fetch_add(&renderer->renders, 1);
    return finish(renderer, slot, &made, &out->response);
}

int http_render_cpus(struct http_renderer *renderer, const struct json_cpus_query *query, enum http_coding coding,
                     const struct http_publication *publication, uint64_t now_ms, struct http_query_answer *out) {
    const char *const parts[] = {query->metric, query->cpu};
    size_t slot;
    int r = find_query(renderer, key_of("cpus", parts, sizeof(parts) / sizeof(parts[0]), coding), publication, now_ms,
                       &slot, out);
    return r == -ENOENT ? keep_query(renderer, slot, render_cpus(renderer, slot, query, coding, publication, out)) : r;
}

// ---- sending ----

enum MHD_Result http_render_send(struct http_renderer *renderer, struct MHD_Connection *connection, int r,
                                 struct MHD_Response *response, uint64_t now_ms) {
    struct http_connection *slot = http_slot_of(connection);
    if (r == -EBUSY)
        return http_respond_busy(connection);
    if (r < 0) {
        http_cache_give_up(&renderer->cache);
        return http_respond_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "Memory is short, try again.\n");
    }
    if (MHD_queue_response(connection, MHD_HTTP_OK, response) != MHD_YES)
        return MHD_NO;
    if (slot)
        http_cache_read(&renderer->cache, response, &slot->reader, now_ms);
    return MHD_YES;
}
