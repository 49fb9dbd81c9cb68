// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_CONNECTIONS_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_CONNECTIONS_H

// Who is connected, and how long each may stay. The HTTP library closes a connection without traffic; a client that
// reads a byte now and then would otherwise hold its place, and its page, for ever.
//
// There is always a place for a new connection. Where a listening address, or one client of it, has all that it may
// have, another connection gives way: first one of the client that has most of them, so that few clients cannot take
// the place of many. A client that was answered lately has HTTP_KNOWN_FREE that are not counted. Between clients with
// equally many, and where all are one client, as on loopback, each state has places that are kept for it: what gives
// way is of a state that has more than those, so that slow requests take no place from handshakes, and neither of them
// takes one from connections that were answered and come again. Of these the one goes that has been in its state
// longest. What is ended here is reset, so that the kernel keeps nothing of what was to be sent.
//
// Which clients were answered lately is remembered of HTTP_KNOWN_MAX at most. Where there are more, the one that came
// last makes place for the next: strangers, however many, cannot make it forget those that were here before them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/http/http_budget.h"

struct MHD_Connection;
struct web;

// From the connection to the end of its TLS handshake, which a busy client takes longer for, and from there, or from a
// connection without TLS, to its first request line.
enum { HTTP_HANDSHAKE_MS_MAX = 5000, HTTP_SILENT_MS_MAX = 2000 };
enum { HTTP_KNOWN_MAX = 256, HTTP_KNOWN_FREE = 4, HTTP_KNOWN_MS = 600000 };

enum http_connection_state {
    HTTP_SILENT,  // has sent no request line yet; with TLS its handshake is under way
    HTTP_READING, // from a request line to the end of its headers
    HTTP_ASKING,  // from there to the end of its answer
    HTTP_ANSWERED,
    HTTP_ENDING, // shut down; the library closes it soon
};

// What tells one client from another: its IPv4 address, or the network (/64) of its IPv6 address.
struct http_client {
    uint8_t address[16];
};

struct http_connections;

struct http_connection {
    struct http_connections *all; // that it is one of; NULL: of none
    int fd;                       // -1: free
    enum http_connection_state state;
    size_t listener; // the address that it came to
    struct http_client client;
    uint64_t since_ms;         // of its state, but a request's is that of its first line; silent: since its handshake
    size_t n_alike;            // connections of this client to this listener that are not ending, with this one
    bool known;                // its client was answered lately
    bool admitted;             // its request was not turned away
    struct http_reader reader; // the budget's (http_budget.h)
    // the guard's (http_guard.h):
    struct MHD_Connection *connection;
    struct web *session;   // a reference: what its TLS began with; NULL: none
    const void *handshake; // the TLS session until the end of its handshake is seen; NULL: none
    const struct web *web; // in force for its request; borrowed
    enum http_pass {
        HTTP_PASS_UNASKED, // or asked for now
        HTTP_PASS_GRANTED,
        HTTP_PASS_DENIED,
        HTTP_PASS_BUSY
    } pass; // of its request's password, once that was computed
};

// A client that was answered.
struct http_known {
    struct http_client client;
    uint64_t first_ms, last_ms;
};

struct http_connections {
    struct http_connection *slots;
    size_t n;
    size_t n_used; // the first so many have been used at all: few, and all that may be looked at
    struct http_known known[HTTP_KNOWN_MAX];
    size_t n_known;
};

// A connection that arrives. Limits: of all connections of its listener, and of those of its client; 0: none.
struct http_arrival {
    int fd;
    size_t listener;
    struct http_client client;
    size_t listener_max, client_max;
};

// Returns 0 or -ENOMEM.
int http_connections_init(struct http_connections *connections, size_t n);
void http_connections_deinit(struct http_connections *connections);

// Takes in a new connection and ends others where limits ask for it; NULL where all slots are taken.
struct http_connection *http_connections_add(struct http_connections *connections, const struct http_arrival *arrival,
                                             uint64_t now_ms);

// It is closed: its slot is free.
void http_connections_remove(struct http_connections *connections, struct http_connection *connection);

// Its request was answered: its client is known from now on.
void http_connections_remember(struct http_connections *connections, struct http_connection *connection,
                               uint64_t now_ms);

// Ends the connection that has been without a request longest, if there is one and none is ending already.
void http_connections_yield(struct http_connections *connections);

// Its request line has come, its headers have, or its answer has gone.
void http_connection_set(struct http_connection *connection, enum http_connection_state state, uint64_t now_ms);

// Resets it: the library closes it soon.
void http_connection_end(struct http_connection *connection);

// Makes the kernel forget what is still to be sent when the socket is closed, and tell the other side so.
void http_connection_reset_at_close(const struct http_connection *connection);

bool http_connections_none(const struct http_connections *connections);

// Ends the connections whose request takes longer than limit_ms, and those that have sent none and whose time for the
// handshake or for its line is over. Returns the milliseconds until the next one reaches its limit, -1 where there is
// none. To be called whenever the library has run: it does not tell when a handshake has ended.
int http_connections_expire(struct http_connections *connections, uint64_t now_ms, uint64_t limit_ms);

#endif
