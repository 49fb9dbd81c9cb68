// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_LISTENERS_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_LISTENERS_H

// The HTTP library's daemons, one for each listening address, and the thread that runs them all.
//
// The thread waits without a time limit, because the kernel needs longer to set and cancel one than to pass a request
// on. A timer that lies beside the sockets ends the wait instead. Traffic puts off what is due, but not the timer: it
// rings too early then, and is set anew.
//
// Another thread may hand over a daemon at any time, because an address may appear late, and may have one ended. From
// then on the daemon belongs to the server's thread, which calls all functions below the line. A daemon that is to end
// accepts nobody any more; requests under way have HTTP_LEAVING_MS to finish.

#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/http/http.h"

enum { HTTP_LEAVING_MS = 2000 };

struct http_listeners {
    size_t n;
    int wake_fd;       // an eventfd: a daemon has arrived or must go, or the thread must end
    int epoll_fd;      // all that the thread waits for
    int timer_fd;      // a timerfd
    uint64_t timer_ms; // when it rings; UINT64_MAX: never
    pthread_mutex_t lock;
    struct MHD_Daemon *arriving[HTTP_PLACES_MAX]; // under the lock, like the next three members
    bool taken[HTTP_PLACES_MAX];                  // handed over, and not ended yet
    bool leaving[HTTP_PLACES_MAX];                // must go
    bool stopping;
    struct MHD_Daemon *live[HTTP_PLACES_MAX];   // NULL: not there yet
    uint64_t ends_ms[HTTP_PLACES_MAX];          // of a live one that goes: the latest time; 0: it stays
    struct pollfd fds[1 + 2 * HTTP_PLACES_MAX]; // what wakes; the daemons' own; their listening sockets
    bool deaf;                                  // the next wait ignores the listening sockets
    void (*before_end)(void *context);          // is called before a daemon ends; by any thread in the end
    void *context;
};

// Returns 0 or a negative errno.
int http_listeners_init(struct http_listeners *listeners, size_t n);
// Ends all daemons. The server's thread must have ended.
void http_listeners_deinit(struct http_listeners *listeners);

// Returns 0, or a negative errno: then the daemon stays the caller's.
int http_listeners_hand_over(struct http_listeners *listeners, size_t i, struct MHD_Daemon *daemon);
// Ends the daemon. Its place is free later.
void http_listeners_send_away(struct http_listeners *listeners, size_t i);
// Whether a daemon may be handed over for this place.
bool http_listeners_is_free(struct http_listeners *listeners, size_t i);
void http_listeners_stop(struct http_listeners *listeners);

// Starts the server's thread, which gets no signals: the daemon's main thread handles all. Returns 0 or a negative
// errno.
int http_listeners_start(pthread_t *thread, void *(*serve)(void *context), void *context);

// ---- for the server's thread ----

// Waits for traffic, for at most timeout_ms (-1: for ever). Returns 1 if a client has asked for a connection, 0 if none
// has, or -1 where the thread must end. It watches the listening sockets itself, because the library no longer does
// once it had no file descriptor for a connection.
int http_listeners_wait(struct http_listeners *listeners, int timeout_ms);

// Makes the next wait ignore clients that ask for a connection, for a moment: there is no place for them.
void http_listeners_turn_deaf(struct http_listeners *listeners);

// Waits a moment without listening.
void http_listeners_pause(struct http_listeners *listeners);

void http_listeners_run(struct http_listeners *listeners);

// Milliseconds until the library has something to do; -1: nothing.
int http_listeners_timeout(const struct http_listeners *listeners);

size_t http_listeners_find(const struct http_listeners *listeners, const struct MHD_Daemon *daemon);

// Whether a client waits that has not been accepted.
bool http_listeners_keep_waiting(struct http_listeners *listeners);

#endif
