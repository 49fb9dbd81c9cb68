// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_GUARD_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_GUARD_H

// Whom the server answers, and over what: the web configuration in force (exporters/web/), put to the HTTP library.
//
// A connection keeps the TLS that it began with. Passwords and headers are those in force when a request comes. While a
// password is computed, the connection is suspended: its client waits, and nobody else does.

#include <microhttpd.h>
#include <pthread.h>

#include "exporters/http/http_connections.h"
#include "exporters/web/web_gate.h"

struct http_guard {
    int wake_fd; // ends the wait of the server's thread
    bool begun;  // there is a web configuration, and always one with TLS or always one without
    bool tls;
    pthread_mutex_t lock;
    struct web *next;      // under the lock: NULL: none since the last one was taken
    struct web_gate *gate; // under the lock until set; NULL: nobody has had a password yet
    struct web *web;       // the server's thread's; NULL: none
};

void http_guard_init(struct http_guard *guard, int wake_fd);
void http_guard_deinit(struct http_guard *guard);

// Puts a web configuration in force for requests to come; takes a reference. The first one decides whether the server
// speaks TLS. Returns 0, -EOPNOTSUPP if that would change, -ENOENT if libcrypt is missing, or another negative errno:
// nothing has changed then.
int http_guard_change(struct http_guard *guard, struct web *web);

// ---- for the thread that listens ----

// The library's flags and options for a daemon. `options` gets two items.
unsigned http_guard_flags(const struct http_guard *guard);
void http_guard_options(const struct http_guard *guard, struct MHD_OptionItem options[2]);

// ---- for the server's thread ----

// Takes what has been put in force since. True if something has.
bool http_guard_refresh(struct http_guard *guard);

// A connection begins: it gets its certificate. It must have a slot.
void http_guard_begin(struct http_guard *guard, struct MHD_Connection *connection, struct http_connection *slot);
// It has ended.
void http_guard_end(struct http_connection *slot);

// Whether the request is answered. WEB_WAIT: the connection is suspended, and its request comes again.
enum web_verdict http_guard_judge(struct http_guard *guard, struct MHD_Connection *connection,
                                  struct http_connection *slot);

// Answers a request that is not: WEB_BUSY or WEB_DENIED.
enum MHD_Result http_guard_refuse(struct MHD_Connection *connection, enum web_verdict verdict);

// Wakes the connections whose passwords have been judged.
void http_guard_wake(struct http_guard *guard);

// Wakes all that are suspended: the library's daemon must not end before.
void http_guard_give_up(struct http_guard *guard);

#endif
