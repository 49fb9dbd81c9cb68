// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_connections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int http_connections_init(struct http_connections *connections, size_t n) {
    struct http_connection *slots = calloc(n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    *connections = (struct http_connections){.slots = slots, .n = n};
    return 0;
}

void http_connections_deinit(struct http_connections *connections) {
    free(connections->slots);
    *connections = (struct http_connections){0};
}

void http_connection_set(struct http_connection *connection, enum http_connection_state state, uint64_t now_ms) {
    if (connection->state == HTTP_ENDING)
        return;
    connection->state = state;
    connection->since_ms = now_ms;
}

void http_connection_reset_at_close(const struct http_connection *connection) {
    const struct linger none = {.l_onoff = 1};
    (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

static void end(struct http_connection *connection) {
    http_connection_reset_at_close(connection);
    (void)shutdown(connection->fd, SHUT_RDWR); // the HTTP library sees the end and closes it
    connection->state = HTTP_ENDING;
}

static bool gives_way_before(const struct http_connection *a, const struct http_connection *b) {
    bool a_asks = a->state == HTTP_ASKING, b_asks = b->state == HTTP_ASKING;
    return a_asks != b_asks ? b_asks : a->since_ms < b->since_ms;
}

// Ends one of the listener's connections, of one client where `client` is not NULL, if they are `max` or more.
static void make_place(struct http_connections *connections, size_t listener, const struct http_client *client,
                       size_t max) {
    struct http_connection *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct http_connection *slot = &connections->slots[i];
        if (slot->fd < 0 || slot->state == HTTP_ENDING || slot->listener != listener ||
            (client && memcmp(client, &slot->client, sizeof(*client)) != 0))
            continue;
        n++;
        if (!first || gives_way_before(slot, first))
            first = slot;
    }
    if (first && max > 0 && n >= max)
        end(first);
}

struct http_connection *http_connections_add(struct http_connections *connections, const struct http_arrival *arrival,
                                             uint64_t now_ms) {
    make_place(connections, arrival->listener, &arrival->client, arrival->client_max);
    make_place(connections, arrival->listener, NULL, arrival->listener_max);
    for (size_t i = 0; i < connections->n; i++) {
        if (i < connections->n_used && connections->slots[i].fd >= 0)
            continue;
        connections->n_used = i < connections->n_used ? connections->n_used : i + 1;
        connections->slots[i] = (struct http_connection){.fd = arrival->fd,
                                                         .state = HTTP_SILENT,
                                                         .listener = arrival->listener,
                                                         .client = arrival->client,
                                                         .since_ms = now_ms};
        return &connections->slots[i];
    }
    return NULL;
}

void http_connections_yield(struct http_connections *connections) {
    struct http_connection *first = NULL;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct http_connection *slot = &connections->slots[i];
        if (slot->fd < 0)
            continue;
        if (slot->state == HTTP_ENDING)
            return; // its file descriptor is free soon
        if (slot->state != HTTP_ASKING && (!first || gives_way_before(slot, first)))
            first = slot;
    }
    if (first)
        end(first);
}

bool http_connections_none(const struct http_connections *connections) {
    for (size_t i = 0; i < connections->n_used; i++)
        if (connections->slots[i].fd >= 0)
            return false;
    return true;
}

int http_connections_expire(struct http_connections *connections, uint64_t now_ms, uint64_t limit_ms) {
    int next = -1;
    for (size_t i = 0; i < connections->n_used; i++) {
        struct http_connection *connection = &connections->slots[i];
        if (connection->fd < 0 || connection->state == HTTP_ENDING)
            continue;
        bool silent = connection->state == HTTP_SILENT && limit_ms > HTTP_SILENT_MS_MAX;
        uint64_t end_ms = connection->since_ms + (silent ? HTTP_SILENT_MS_MAX : limit_ms);
        if (now_ms >= end_ms)
            end(connection);
        else if (next < 0 || end_ms - now_ms < (uint64_t)next)
            next = (int)(end_ms - now_ms);
    }
    return next;
}
