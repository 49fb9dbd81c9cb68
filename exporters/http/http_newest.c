// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_newest.h"

#include <string.h>

static void published_unref(struct http_published *published) {
    snapshot_unref(published->snapshot);
    view_unref(published->view);
}

void http_newest_init(struct http_newest *newest) {
    *newest = (struct http_newest){0};
    pthread_mutex_init(&newest->lock, NULL);
}

void http_newest_deinit(struct http_newest *newest) {
    for (size_t i = 0; i < newest->n_types; i++)
        published_unref(&newest->types[i]);
    pthread_mutex_destroy(&newest->lock);
}

void http_newest_publish(struct http_newest *newest, size_t type, const struct http_published *published,
                         uint64_t now_ms) {
    snapshot_ref(published->snapshot);
    view_ref(published->view);
    pthread_mutex_lock(&newest->lock);
    struct http_published old = newest->types[type];
    newest->types[type] = *published;
    newest->generation++;
    if (published->view != old.view)
        newest->view_generation = newest->generation;
    newest->published_ms[type] = now_ms;
    pthread_mutex_unlock(&newest->lock);
    published_unref(&old);
}

void http_newest_renew(struct http_newest *newest, const struct http_published *types, size_t n, uint64_t now_ms) {
    struct http_published old[SHOWN_TYPES_MAX] = {{NULL, NULL}};
    for (size_t i = 0; i < n; i++) {
        snapshot_ref(types[i].snapshot);
        view_ref(types[i].view);
    }
    pthread_mutex_lock(&newest->lock);
    size_t n_old = newest->n_types;
    memcpy(old, newest->types, sizeof old);
    memset(newest->types, 0, sizeof newest->types);
    newest->n_types = n;
    newest->n_cores = 0;
    for (size_t i = 0; i < n; i++) {
        newest->types[i] = types[i];
        newest->n_cores += !types[i].view->layout->topology->boxes;
        newest->published_ms[i] = now_ms;
    }
    newest->view_generation = ++newest->generation;
    pthread_mutex_unlock(&newest->lock);
    for (size_t i = 0; i < n_old; i++)
        published_unref(&old[i]);
}

struct http_publication http_newest_take(struct http_newest *newest, uint64_t now_ms) {
    struct http_publication publication = {0};
    pthread_mutex_lock(&newest->lock);
    publication.n = newest->n_types;
    for (size_t i = 0; i < publication.n; i++) {
        uint64_t published_ms = newest->published_ms[i];
        struct http_published *type = &publication.types[i];
        type->snapshot = snapshot_ref(newest->types[i].snapshot);
        type->view = view_ref(newest->types[i].view);
        // it may have been published since the clock was read
        if (now_ms > published_ms && view_stale(type->view, now_ms - published_ms))
            publication.stale |= UINT64_C(1) << i;
    }
    newest->generation += publication.stale != newest->stale;
    newest->stale = publication.stale;
    publication.generation = newest->generation;
    publication.view_generation = newest->view_generation;
    pthread_mutex_unlock(&newest->lock);
    return publication;
}

void http_publication_unref(struct http_publication *publication) {
    for (size_t i = 0; i < publication->n; i++)
        published_unref(&publication->types[i]);
}

struct snapshot *http_publication_snapshot(const struct http_publication *publication, size_t type) {
    struct snapshot *snapshot = publication->types[type].snapshot;
    return publication->stale >> type & 1 ? snapshot_stale(snapshot) : snapshot_ref(snapshot);
}
