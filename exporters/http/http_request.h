// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_REQUEST_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_REQUEST_H

// Requests that get no page: those that two readers could understand differently, those that ask for nothing we have,
// and those that were meant for another host.

#include <microhttpd.h>
#include <stdbool.h>

#include "exporters/http/http_connections.h"

struct http_refusal {
    unsigned status;  // 0: the request is fine
    const char *text; // for people
};

// Judges the headers and the query. `hostname`: the host's own name where the client came to a loopback address, else
// NULL. There a web page that rebinds its name to 127.0.0.1 must not read what we serve, so a Host header has to name
// this host, "localhost" or an address.
struct http_refusal http_request_judge(struct MHD_Connection *connection, const char *hostname);

// Fills in the socket of a new connection, and who it is. False if the library does not know the socket.
bool http_request_arrives(struct MHD_Connection *connection, struct http_arrival *arrival);

// What tells the client of this address from another: of IPv6 the network (/64), since one host has all of it. NULL, or
// an address of another kind, such as a Unix socket's: one client.
struct sockaddr;
struct http_client http_request_client(const struct sockaddr *address);

// Whether the value of a Host header is `hostname`, "localhost" or a numeric address, with or without a port.
bool http_request_host_is_ours(const char *host, const char *hostname);

#endif
