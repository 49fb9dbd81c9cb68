// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_RESERVE_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_RESERVE_H

// Address space that is kept for connections and short answers. Where the process has none left (RLIMIT_AS), a client
// then gets an answer that says so, and not a connection that ends without a word. The server holds it while it waits
// and while it makes pages, which would use it up, and lends it while the HTTP library runs, which accepts clients at
// any moment of that. It is never touched, so it takes no memory. Whoever else in the process is quicker may still get
// it: then the library closes the connection before it tells of it.

#include <stdbool.h>

struct http_reserve {
    bool wanted; // the process may not have all the space that there is
    void *space; // NULL: lent, or none was left
};

// Looks at the limit, which a service manager sets before the process begins: without one there is always space, and
// nothing is ever taken or lent.
void http_reserve_init(struct http_reserve *reserve);

// Takes the reserve, or takes it back. False if there is no space for it.
bool http_reserve_take(struct http_reserve *reserve);

// Gives the space to whoever asks next.
void http_reserve_lend(struct http_reserve *reserve);

#endif
