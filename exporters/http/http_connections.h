// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_CONNECTIONS_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_CONNECTIONS_H

// Tracks when each connection began its current request. The HTTP library closes only idle connections; without this
// limit a client that reads a byte now and then would hold its place, and its page, forever.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_connection {
    int fd; // -1: free
    uint64_t since_ms;
};

struct http_connections {
    struct http_connection *slots;
    size_t n;
};

// Returns 0 or -ENOMEM.
int http_connections_init(struct http_connections *connections, size_t n);
void http_connections_deinit(struct http_connections *connections);

// Adds a new connection, which begins its first request. NULL if all slots are taken.
struct http_connection *http_connections_add(struct http_connections *connections, int fd, uint64_t now_ms);

bool http_connections_none(const struct http_connections *connections);

// Shuts down the connections whose request takes longer than limit_ms. Returns the milliseconds until the next request
// reaches the limit, -1 if there is none.
int http_connections_expire(const struct http_connections *connections, uint64_t now_ms, uint64_t limit_ms);

#endif
