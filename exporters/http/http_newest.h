// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_NEWEST_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_NEWEST_H

// The newest snapshot of each core type. One thread publishes, the server's thread takes: both hold the lock for a few
// pointers.

#include <pthread.h>

#include "exporters/http/http.h"

struct http_newest {
    pthread_mutex_t lock;
    size_t n_types, n_cores; // under the lock, like all below; core types come first, and their number stays
    struct http_published types[SHOWN_TYPES_MAX];
    uint64_t published_ms[SHOWN_TYPES_MAX];
    uint64_t stale;           // one bit for each type, as it was last taken
    uint64_t generation;      // counts what was published, or has become stale
    uint64_t view_generation; // the generation that first had these views
};
void http_newest_init(struct http_newest *newest);
void http_newest_deinit(struct http_newest *newest); // gives up what is published

// Replaces what is published of a core type; takes references. `now_ms` is by the clock that http_newest_take gets.
void http_newest_publish(struct http_newest *newest, size_t type, const struct http_published *published,
                         uint64_t now_ms);

// Replaces what is published of all types by these; takes references.
void http_newest_renew(struct http_newest *newest, const struct http_published *types, size_t n, uint64_t now_ms);

// The newest snapshots with their views (a reference to each), and their generations.
struct http_publication {
    struct http_published types[SHOWN_TYPES_MAX];
    size_t n;
    uint64_t stale; // one bit for each type
    uint64_t generation, view_generation;
};
struct http_publication http_newest_take(struct http_newest *newest, uint64_t now_ms);
void http_publication_unref(struct http_publication *publication);

// The type's snapshot, or a copy without gauges if it is stale. NULL if out of memory.
struct snapshot *http_publication_snapshot(const struct http_publication *publication, size_t type);

#endif
