// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_RESERVE_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_RESERVE_H

// Address space that is kept for connections and short answers. Where the process has none left (RLIMIT_AS), a client
// then gets an answer that says so, and not a connection that ends without a word. The reserve is never touched, so it
// takes no memory.

#include <stdbool.h>

struct http_reserve {
    void *space; // NULL: lent, or none was left
};

// Takes the reserve, or takes it back. False if there is no space for it.
bool http_reserve_take(struct http_reserve *reserve);

// Gives the space to whoever asks next.
void http_reserve_lend(struct http_reserve *reserve);

#endif
