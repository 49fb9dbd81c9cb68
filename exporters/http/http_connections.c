// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_connections.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

int http_connections_init(struct http_connections *connections, size_t n) {
    struct http_connection *slots = calloc(n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        slots[i].fd = -1;
    *connections = (struct http_connections){.slots = slots, .n = n};
    return 0;
}

void http_connections_deinit(struct http_connections *connections) {
    free(connections->slots);
    *connections = (struct http_connections){0};
}

struct http_connection *http_connections_add(struct http_connections *connections, int fd, uint64_t now_ms) {
    for (size_t i = 0; i < connections->n; i++) {
        if (connections->slots[i].fd >= 0)
            continue;
        connections->slots[i] = (struct http_connection){.fd = fd, .since_ms = now_ms};
        return &connections->slots[i];
    }
    return NULL;
}

bool http_connections_none(const struct http_connections *connections) {
    for (size_t i = 0; i < connections->n; i++)
        if (connections->slots[i].fd >= 0)
            return false;
    return true;
}

int http_connections_expire(const struct http_connections *connections, uint64_t now_ms, uint64_t limit_ms) {
    int next = -1;
    for (size_t i = 0; i < connections->n; i++) {
        const struct http_connection *connection = &connections->slots[i];
        if (connection->fd < 0)
            continue;
        uint64_t end = connection->since_ms + limit_ms;
        if (now_ms >= end)
            shutdown(connection->fd, SHUT_RDWR); // the HTTP library sees the end and closes it
        else if (next < 0 || end - now_ms < (uint64_t)next)
            next = (int)(end - now_ms);
    }
    return next;
}
