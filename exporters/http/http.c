// SPDX-License-Identifier: Apache-2.0
//
// The HTTP library runs without threads of its own: one daemon of it per address, and one thread here that waits for
// all of them (http_listeners.h). So everything below `listeners` in struct http_server belongs to that thread and
// needs no lock; the threads share only the newest snapshots and addresses that arrive.
//
// Rendered pages are kept for other clients and for their memory: http_render.h, http_cache.h.
//
// The library passes a request in three calls: on_target with the target as the client sent it, then on_request once
// after the headers and once after the whole request. Each call leaves one of the marks below for the next.

#include "exporters/http/http.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exporters/history/shown_history.h"
#include "exporters/http/http_answer.h"
#include "exporters/http/http_clock.h"
#include "exporters/http/http_connections.h"
#include "exporters/http/http_guard.h"
#include "exporters/http/http_listen.h"
#include "exporters/http/http_listeners.h"
#include "exporters/http/http_request.h"
#include "exporters/http/http_respond.h"

enum { CONNECTION_BYTES_MAX = 32 << 10, IDLE_SECONDS_MAX = 10 };

// Connections of one address that have been ended and that the library has not closed yet.
enum { ENDING_MAX = 64, RUNS_MAX = 64 };

struct http_server {
    uint16_t ports[HTTP_PLACES_MAX];              // 0: not there yet
    unsigned client_connections[HTTP_PLACES_MAX]; // limit for one client; 0: none
    char hostname[HOST_NAME_MAX + 1];
    bool loopback[HTTP_PLACES_MAX]; // only this host reaches the address
    uint64_t request_ms_max;
    pthread_t thread;
    bool running;

    struct shown_history history; // has a lock,
    struct http_guard guard;      // and so has this
    struct http_answers answers;

    struct http_listeners listeners;
    struct http_connections connections;
    uint64_t connection_changes; // number of connections opened and closed,
    uint64_t in_vain;            // and what it was when a client last waited in vain
};

// The progress of a request, in the library's pointer for callers. NULL: its target has been seen.
static const char target_refused, headers_seen;
static void *mark(const char *stage) { return (void *)(uintptr_t)stage; }

static uint64_t now_ms(void) { return http_clock_ms(CLOCK_MONOTONIC); }

struct health http_server_health(struct http_server *server, char *text, size_t size) {
    return http_answers_health(&server->answers, text, size);
}

// Takes the web configuration that is in force now.
static void refresh_guard(struct http_server *server) {
    if (!http_guard_refresh(&server->guard))
        return;
    http_cache_give_up(&server->answers.renderer.cache); // pages have other headers now
    server->answers.renderer.web = server->guard.web;
}

static bool is_probe(const struct http_connection *slot) { return slot && slot->listener == HTTP_PROBE; }

static enum MHD_Result respond_admitted(struct http_server *server, struct MHD_Connection *connection,
                                        const char *path) {
    struct http_connection *slot = http_slot_of(connection);
    if (is_probe(slot))
        return strncmp(path, "/-/", 3) == 0
                   ? http_answer(&server->answers, connection, path)
                   : http_respond_text(connection, MHD_HTTP_NOT_FOUND, "Only /-/healthy and /-/ready are here.\n");
    enum web_verdict verdict = http_guard_judge(&server->guard, connection, slot);
    if (verdict == WEB_WAIT)
        return MHD_YES;
    if (verdict != WEB_GRANTED)
        return http_guard_refuse(connection, verdict);
    if (slot)
        slot->admitted = true;
    return http_answer(&server->answers, connection, path);
}

// The library ends a path at an escaped zero byte, so that only the target as sent tells /%00 from /.
static void *on_target(void *context, const char *target, struct MHD_Connection *connection) {
    (void)context;
    struct http_connection *slot = http_slot_of(connection);
    if (slot)
        http_connection_set(slot, HTTP_READING, now_ms());
    return strstr(target, "%00") ? mark(&target_refused) : NULL;
}

// The library calls it after a request's headers, and again after the whole request.
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *body, size_t *body_length,
                                  void **request) {
    struct http_server *server = context;
    struct http_connection *slot = http_slot_of(connection);
    (void)version, (void)body, (void)body_length;
    refresh_guard(server);
    if (slot) {
        slot->web = server->guard.web;
        http_connection_set(slot, HTTP_ASKING, now_ms());
    }
    if (*request == &headers_seen)
        return respond_admitted(server, connection, http_page_path(path));
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return http_respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8",
                            "Only GET and HEAD are understood.\n", "Allow", "GET, HEAD");
    bool local = !slot || (!is_probe(slot) && server->loopback[slot->listener]);
    struct http_refusal refusal = http_request_judge(connection, local ? server->hostname : NULL);
    if (refusal.status != 0)
        return http_respond(connection, refusal.status, "text/plain; charset=utf-8", refusal.text, "Connection",
                            "close");
    if (*request == &target_refused)
        return http_respond_text(connection, MHD_HTTP_BAD_REQUEST, "A path or query must not have a zero byte.\n");
    *request = mark(&headers_seen);
    return MHD_YES;
}

static struct http_connection *take_in(struct http_server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *daemon = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_DAEMON);
    struct http_arrival arrival = {.listener_max = HTTP_CONNECTIONS_MAX};
    if (!daemon || !http_request_arrives(connection, &arrival))
        return NULL;
    arrival.listener = http_listeners_find(&server->listeners, daemon->daemon);
    arrival.client_max = server->client_connections[arrival.listener];
    return http_connections_add(&server->connections, &arrival, now_ms());
}

static void on_connection(void *context, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode code) {
    struct http_server *server = context;
    server->connection_changes++;
    refresh_guard(server);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *slot = take_in(server, connection);
        if (*slot && !is_probe(*slot))
            http_guard_begin(&server->guard, connection, *slot);
    } else if (*slot) {
        http_guard_end(*slot);
        http_budget_end(&server->answers.renderer.cache.budget, &((struct http_connection *)*slot)->reader);
        http_connections_remove(&server->connections, *slot);
    }
}

static void on_answered(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code) {
    struct http_server *server = context;
    struct http_connection *slot = http_slot_of(connection);
    (void)request;
    if (!slot)
        return;
    http_budget_end(&server->answers.renderer.cache.budget, &slot->reader);
    if (code == MHD_REQUEST_TERMINATED_TIMEOUT_REACHED)
        http_connection_reset_at_close(slot); // nobody reads the rest
    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK && slot->admitted)
        http_connections_remember(&server->connections, slot, now_ms());
    slot->admitted = false;
    http_connection_set(slot, HTTP_ANSWERED, now_ms());
}

static int sooner(int a, int b) { return a < 0 || (b >= 0 && b < a) ? b : a; }

// Milliseconds until something is due; -1: nothing is.
static int next_timeout(struct http_server *server) {
    int timeout = http_connections_expire(&server->connections, now_ms(), server->request_ms_max);
    timeout = sooner(timeout, http_cache_expire(&server->answers.renderer.cache, now_ms()));
    return sooner(timeout, http_listeners_timeout(&server->listeners));
}

// At its limit of connections or files the library stops listening. It listens again only in the run after the one that
// ended connections, so this runs it until nothing changes, or for RUNS_MAX times where clients never stop to come:
// what waits then wakes the thread at once.
static void run(struct http_server *server) {
    uint64_t before;
    int runs = 0;
    do {
        before = server->connection_changes;
        http_listeners_run(&server->listeners);
    } while (before != server->connection_changes && ++runs < RUNS_MAX);
}

// Makes place for a client that waits where no file descriptor is left. A client that has only just come is accepted in
// the second run, or a moment later: the kernel puts it into the queue before it tells the library's epoll so, and a
// busy machine may stop in between. A connection ends only for a client that has waited for that moment.
static void run_for_waiting(struct http_server *server) {
    uint64_t before = server->connection_changes;
    run(server);
    if (before != server->connection_changes || !http_listeners_keep_waiting(&server->listeners))
        return;
    if (http_connections_none(&server->connections)) {
        http_listeners_pause(&server->listeners); // the library would try again at once
    } else if (server->in_vain != server->connection_changes) {
        server->in_vain = server->connection_changes;
        http_listeners_turn_deaf(&server->listeners);
    } else {
        http_connections_yield(&server->connections);
        http_listeners_turn_deaf(&server->listeners);
    }
}

// The next client's answer comes before pages that somebody may ask for again.
static void take_reserve(struct http_server *server) {
    if (http_reserve_take(&server->answers.reserve))
        return;
    http_cache_give_up(&server->answers.renderer.cache);
    (void)http_reserve_take(&server->answers.reserve);
}

static void *serve(void *context) {
    struct http_server *server = context;
    for (;;) {
        int knocks = http_listeners_wait(&server->listeners, next_timeout(server));
        if (knocks < 0)
            return NULL;
        http_reserve_lend(&server->answers.reserve); // the library also accepts clients that come during a run
        http_guard_wake(&server->guard);
        run(server);
        if (knocks > 0 && http_listeners_keep_waiting(&server->listeners))
            run_for_waiting(server);
        take_reserve(server);
    }
}

// Makes the library's daemon for a listening socket and takes the socket over.
static int start_daemon(struct http_server *server, size_t i, int fd, struct MHD_Daemon **out) {
    struct MHD_OptionItem protection[] = {{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
    if (i != HTTP_PROBE)
        http_guard_options(&server->guard, protection);
    *out = MHD_start_daemon(
        (unsigned)MHD_USE_EPOLL | (i != HTTP_PROBE ? http_guard_flags(&server->guard) : 0), 0, NULL, NULL, on_request,
        server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(HTTP_CONNECTIONS_MAX + ENDING_MAX), MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
        MHD_OPTION_NOTIFY_COMPLETED, on_answered, server, MHD_OPTION_ARRAY, protection, MHD_OPTION_END);
    if (*out)
        return 0;
    int error = errno == EMFILE || errno == ENFILE ? errno : ENOMEM;
    close(fd);
    return -error;
}

// Serves on a listening socket, which it takes over.
static int serve_on(struct http_server *server, size_t i, const struct http_address *address, int fd, uint16_t port,
                    struct errors *errors) {
    struct MHD_Daemon *daemon;
    int r = start_daemon(server, i, fd, &daemon);
    if (r < 0)
        return http_listen_refuse(address, errors, -r);
    server->loopback[i] = http_listen_is_loopback(address->address);
    bool shared = server->loopback[i] || http_listen_is_path(address->address);
    server->client_connections[i] = shared ? 0 : HTTP_CLIENT_CONNECTIONS_MAX;
    r = http_listeners_hand_over(&server->listeners, i, daemon);
    if (r < 0) {
        MHD_stop_daemon(daemon);
        return http_listen_refuse(address, errors, -r);
    }
    server->ports[i] = port;
    return 0;
}

int http_server_listen(struct http_server *server, size_t i, const struct http_address *address,
                       struct errors *errors) {
    uint16_t port;
    int fd, r = http_listen(address, errors, &fd, &port);
    return r < 0 ? r : serve_on(server, i, address, fd, port, errors);
}

int http_server_adopt(struct http_server *server, size_t i, const struct http_address *address, int fd,
                      struct errors *errors) {
    int r = http_listen_adopt(fd);
    if (r == 0)
        return serve_on(server, i, address, fd, address->port, errors);
    close(fd);
    return http_listen_refuse(address, errors, -r);
}

int http_server_start(struct http_server *server, const struct http_published *types, size_t n) {
    http_server_renew(server, types, n);
    for (size_t i = 0; i < server->answers.newest.n_cores; i++)
        shown_history_take(&server->history, i, server->answers.newest.n_cores, types[i].view, types[i].snapshot);
    int r = http_listeners_start(&server->thread, serve, server);
    server->running = r == 0;
    return r;
}

void http_server_renew(struct http_server *server, const struct http_published *types, size_t n) {
    struct view *views[SHOWN_TYPES_MAX];
    for (size_t i = 0; i < n; i++)
        views[i] = types[i].view;
    http_newest_renew(&server->answers.newest, types, n, http_answers_now_ms(&server->answers));
    shown_history_renew(&server->history, server->answers.newest.n_cores, views, n);
}

void http_server_publish(struct http_server *server, size_t type, const struct http_published *published) {
    // the history first: what is rendered of it for the new publication has the new snapshot
    shown_history_take(&server->history, type, server->answers.newest.n_cores, published->view, published->snapshot);
    http_newest_publish(&server->answers.newest, type, published, http_answers_now_ms(&server->answers));
}

int http_server_place(struct http_server *server, const bool used[HTTP_ADDRESSES_MAX]) {
    for (size_t i = 0; i < HTTP_ADDRESSES_MAX; i++)
        if (!used[i] && http_listeners_is_free(&server->listeners, i))
            return (int)i;
    return -1;
}

bool http_server_is_free(struct http_server *server, size_t i) { return http_listeners_is_free(&server->listeners, i); }

void http_server_close(struct http_server *server, size_t i) {
    server->ports[i] = 0;
    http_listeners_send_away(&server->listeners, i);
}

int http_server_protect(struct http_server *server, struct web *web) { return http_guard_change(&server->guard, web); }

static void give_up_guard(void *context) { http_guard_give_up(&((struct http_server *)context)->guard); }

int http_server_new(const struct http_address *addresses, size_t n, struct http_server **out) {
    struct http_server *server = n <= HTTP_ADDRESSES_MAX ? calloc(1, sizeof(*server)) : NULL;
    if (!server)
        return n <= HTTP_ADDRESSES_MAX ? -ENOMEM : -E2BIG;
    server->request_ms_max = HTTP_REQUEST_MS_MAX;
    server->in_vain = UINT64_MAX; // never
    if (gethostname(server->hostname, HOST_NAME_MAX) < 0)
        (void)strcpy(server->hostname, "localhost");
    for (size_t i = 0; i < n; i++)
        server->loopback[i] = http_listen_is_loopback(addresses[i].address);
    int r = http_connections_init(&server->connections, (size_t)HTTP_PLACES_MAX * (HTTP_CONNECTIONS_MAX + ENDING_MAX));
    if (r == 0)
        r = http_listeners_init(&server->listeners, HTTP_PLACES_MAX);
    if (r < 0) {
        http_connections_deinit(&server->connections);
        free(server);
        return r;
    }
    http_guard_init(&server->guard, server->listeners.wake_fd);
    server->listeners.before_end = give_up_guard;
    server->listeners.context = server;
    shown_history_init(&server->history);
    http_answers_init(&server->answers, &server->history);
    *out = server;
    return 0;
}

uint16_t http_server_port(const struct http_server *server, size_t i) { return server->ports[i]; }

bool http_server_cpus_read(struct http_server *server) {
    return atomic_load(&server->answers.cpus_read) && atomic_exchange(&server->answers.cpus_read, false);
}

struct shown_history *http_server_history(struct http_server *server) {
    return server->answers.renderer.history;
}

size_t http_server_renders(const struct http_server *server) { return atomic_load(&server->answers.renderer.renders); }

void http_server_limit_request(struct http_server *server, unsigned limit_ms) { server->request_ms_max = limit_ms; }

void http_server_use_clock(struct http_server *server, uint64_t (*clock_ms)(void *context), void *context) {
    server->answers.clock_ms = clock_ms;
    server->answers.clock_context = context;
}

static void stop_thread(struct http_server *server) {
    if (!server->running)
        return;
    http_listeners_stop(&server->listeners);
    pthread_join(server->thread, NULL);
}

struct http_server *http_server_free(struct http_server *server) {
    if (!server)
        return NULL;
    stop_thread(server);
    http_listeners_deinit(&server->listeners);
    http_answers_deinit(&server->answers);
    http_guard_deinit(&server->guard);
    http_connections_deinit(&server->connections);
    shown_history_deinit(&server->history);
    free(server);
    return NULL;
}
