// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_ACCEPT_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_ACCEPT_H

// What a client wants to get, from its headers Accept and Accept-Encoding (RFC 9110, 12.4 and 12.5). Knows the formats
// and codings that this server has, and no others.

#include <microhttpd.h>
#include <stdbool.h>

// How much something is wanted, in thousandths (0: not at all; -1: the header does not mention it), and how exactly the
// header names it. The most exact mention counts.
struct http_wish {
    int weight, precision;
};

struct http_accept {
    struct http_wish text, openmetrics; // Prometheus text 0.0.4, OpenMetrics 1.0.0
    struct http_wish identity, gzip;
};

enum http_coding { HTTP_IDENTITY, HTTP_GZIP, HTTP_CODING_NONE };

// Nothing is mentioned yet.
struct http_accept http_accept_new(void);

// Take in the value of one header; a client may send several. What is no valid element of a list is skipped.
void http_accept_add_types(struct http_accept *accept, const char *value);
void http_accept_add_codings(struct http_accept *accept, const char *value);

// Reads both headers of a request.
struct http_accept http_accept_read(struct MHD_Connection *connection);

// Whether the client prefers OpenMetrics. Where it wants neither format it gets text, because that is what exporters
// send to clients that do not ask.
bool http_accept_openmetrics(const struct http_accept *accept);

// The coding that the client prefers: gzip unless identity has the larger weight. HTTP_CODING_NONE if it refuses both.
enum http_coding http_accept_coding(const struct http_accept *accept);

#endif
