// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_SOURCE_FETCH_H
#define TOPDOWND_TOP_SOURCE_FETCH_H

// Gets pages of a daemon, one at a time, without blocking. Owner of libcurl.

#include <stdbool.h>
#include <stddef.h>

enum { FETCH_WHY_MAX = 300, FETCH_BYTES_MAX = 64 << 20 };

struct fetch_options {
    const char *url;                      // http:// or https://, without a path
    const char *cacert, *user, *password; // NULL: none
};

struct fetched {
    int status;       // of HTTP; 0: no answer, and `why` says why not
    const char *body; // until the next fetch_begin
    size_t length;
    const char *why; // for people; "" where status is 200
};

struct fetch; // private

// Returns 0; -EINVAL with the reason in `why`: the URL cannot be used; -ENOMEM.
int fetch_new(const struct fetch_options *options, struct fetch **out, char why[static FETCH_WHY_MAX]);
struct fetch *fetch_free(struct fetch *fetch);

// Begins to get a page, such as "/api/v1/topdown"; none may be under way. Returns 0 or a negative errno.
int fetch_begin(struct fetch *fetch, const char *path);

// Waits until something can be read from one of `fds`, the page has got further, or the time is over. Works on the
// page.
void fetch_wait(struct fetch *fetch, const int *fds, size_t n, int timeout_ms);

// True once for each page, when it is there or has failed.
bool fetch_take(struct fetch *fetch, struct fetched *out);

#endif
