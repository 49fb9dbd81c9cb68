// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_H

// The HTTP server: one thread of its own for all addresses, GET and HEAD only.
//
// It holds the newest snapshot, renders a page when a client first asks for it, and serves the same bytes until the
// next snapshot. If no snapshot arrives for too long (view_stale), it renders the last one again without its gauges,
// because this thread still runs when the other one hangs. Rendering happens in the server's thread; a request never
// reaches the sampler or the PMU.

#include "core/base/error.h"
#include "exporters/health/health.h"
#include "exporters/view/shown.h"

struct http_address {
    const char *text;    // as configured, for messages
    const char *address; // numeric IPv4 or IPv6, or the absolute path of a Unix socket
    uint16_t port;       // 0: any free one
};

// Limits of connections for each listening address, in all and from one client. A new connection is always taken in:
// beyond a limit another one is reset (http_connections.h). A client may hold half of them. On a loopback address all
// clients may share one address, so the second limit does not apply.
enum { HTTP_ADDRESSES_MAX = 16, HTTP_CONNECTIONS_MAX = 128, HTTP_CLIENT_CONNECTIONS_MAX = 64 };

// The number of one address more, for probes: it serves /-/healthy and /-/ready alone, to everybody, without TLS and
// passwords, and with places of its own.
enum { HTTP_PROBE = HTTP_ADDRESSES_MAX, HTTP_PLACES_MAX };

struct http_server;
struct shown_history;
struct web; // exporters/web/web.h

// Makes a server for these addresses, which listens to none of them yet. Returns 0, -E2BIG, -ENOMEM or another negative
// errno.
int http_server_new(const struct http_address *addresses, size_t n, struct http_server **out);

// Puts a web configuration in force (TLS, passwords, headers); takes a reference. The first one comes before the server
// listens anywhere, and decides whether it speaks TLS. Connections and requests that come use the last one. Returns 0,
// -EOPNOTSUPP if it would switch TLS on or off, -ENOENT if there are passwords and libcrypt is missing, or another
// negative errno: nothing has changed then.
int http_server_protect(struct http_server *server, struct web *web);

// A number for another address, below HTTP_ADDRESSES_MAX; -1: none is free now. The first addresses have the numbers
// from 0 on.
int http_server_place(struct http_server *server, const bool used[HTTP_ADDRESSES_MAX]);

// Whether nothing is left of an address that had this number.
bool http_server_is_free(struct http_server *server, size_t i);

// Stops listening to address `i`. Its connections may finish their requests; then its number is free.
void http_server_close(struct http_server *server, size_t i);

// Binds address `i` and listens; the server's thread answers there from now on, or once it is started. Another thread
// may call it until it has succeeded. Returns 0, or with the reason and remedy in `errors`: -EAGAIN if the cause may
// pass by itself (the port is taken, the address is not there, the host's files or memory are short), -EINVAL if
// somebody must remove it.
int http_server_listen(struct http_server *server, size_t i, const struct http_address *address, struct errors *errors);

// The same with a listening TCP socket that somebody else has bound to the address; takes it over, even on failure.
int http_server_adopt(struct http_server *server, size_t i, const struct http_address *address, int fd,
                      struct errors *errors);

// A view and a snapshot that belongs to it; one pair for each core type of the host.
struct http_published {
    struct view *view;
    struct snapshot *snapshot;
};

// Starts the server's thread with the first views and snapshots, at most SHOWN_TYPES_MAX; takes references. Returns 0
// or a negative errno.
int http_server_start(struct http_server *server, const struct http_published *types, size_t n);

// Publishes a newer snapshot of core type `type` (0: the first or only one) and the view that it belongs to and takes
// references. Called from another thread; waits at most for a pointer swap.
void http_server_publish(struct http_server *server, size_t type, const struct http_published *published);

// Replaces what is published of all core types and kinds by these, of which there may be others than before: core types
// stay. Takes references.
void http_server_renew(struct http_server *server, const struct http_published *types, size_t n);

// Whether topdownd counts what it is configured to count, by what is published and its age, and in `text` what does not
// (health_text). This is what /-/ready answers. Any thread may call it once the server has started.
struct health http_server_health(struct http_server *server, char *text, size_t size);

// The port that address `i` is bound to; 0: none yet, or a Unix socket. For the thread that calls http_server_listen.
uint16_t http_server_port(const struct http_server *server, size_t i);

// True if somebody has asked for a page with the intervals of single CPUs since the last call. Another thread may call
// it.
bool http_server_cpus_read(struct http_server *server);

// What outlives the process of what it shows (exporters/history/shown_history.h).
struct shown_history *http_server_history(struct http_server *server);

// How often a page has been rendered.
size_t http_server_renders(const struct http_server *server);

// Sets the clock for the age of snapshots, in milliseconds that never go back. Call it before http_server_start. The
// default clock also runs while the host is suspended.
void http_server_use_clock(struct http_server *server, uint64_t (*clock_ms)(void *context), void *context);

// Limits the time of one request, from its first byte to the last byte of the answer. Call it before
// http_server_start. The default is HTTP_REQUEST_MS_MAX.
enum { HTTP_REQUEST_MS_MAX = 30000 };
void http_server_limit_request(struct http_server *server, unsigned limit_ms);

// Closes all connections and ends the thread.
struct http_server *http_server_free(struct http_server *server);

#endif
