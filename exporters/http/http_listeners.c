// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_listeners.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "exporters/http/http_clock.h"

enum { TIMEOUT_MS_MAX = 60000, DEAF_MS = 100, LEAVING_LOOK_MS = 100 };

int http_listeners_init(struct http_listeners *listeners, size_t n) {
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return -errno;
    *listeners = (struct http_listeners){.n = n, .wake_fd = fd};
    for (size_t i = 0; i < 1 + 2 * n; i++)
        listeners->fds[i] = (struct pollfd){.fd = i == 0 ? fd : -1, .events = POLLIN};
    pthread_mutex_init(&listeners->lock, NULL);
    return 0;
}

void http_listeners_deinit(struct http_listeners *listeners) {
    for (size_t i = 0; i < listeners->n; i++) {
        if (listeners->live[i])
            MHD_stop_daemon(listeners->live[i]);
        if (listeners->arriving[i])
            MHD_stop_daemon(listeners->arriving[i]);
    }
    pthread_mutex_destroy(&listeners->lock);
    close(listeners->wake_fd);
}

void http_listeners_hand_over(struct http_listeners *listeners, size_t i, struct MHD_Daemon *daemon) {
    pthread_mutex_lock(&listeners->lock);
    listeners->arriving[i] = daemon;
    listeners->taken[i] = true;
    pthread_mutex_unlock(&listeners->lock);
    eventfd_write(listeners->wake_fd, 1); // cannot fail: its count is small
}

void http_listeners_send_away(struct http_listeners *listeners, size_t i) {
    pthread_mutex_lock(&listeners->lock);
    listeners->leaving[i] = listeners->taken[i];
    pthread_mutex_unlock(&listeners->lock);
    eventfd_write(listeners->wake_fd, 1);
}

bool http_listeners_is_free(struct http_listeners *listeners, size_t i) {
    pthread_mutex_lock(&listeners->lock);
    bool is_free = !listeners->taken[i];
    pthread_mutex_unlock(&listeners->lock);
    return is_free;
}

void http_listeners_stop(struct http_listeners *listeners) {
    pthread_mutex_lock(&listeners->lock);
    listeners->stopping = true;
    pthread_mutex_unlock(&listeners->lock);
    eventfd_write(listeners->wake_fd, 1);
}

static void take_over(struct http_listeners *listeners, size_t i) {
    struct MHD_Daemon *daemon = listeners->arriving[i];
    listeners->live[i] = daemon;
    listeners->arriving[i] = NULL;
    listeners->fds[1 + i].fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    listeners->fds[1 + listeners->n + i].fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd;
}

// Closes the listening socket. Connections go on for a moment.
static void begin_leaving(struct http_listeners *listeners, size_t i) {
    int fd = MHD_quiesce_daemon(listeners->live[i]);
    if (fd >= 0)
        close(fd);
    listeners->fds[1 + listeners->n + i].fd = -1;
    listeners->ends_ms[i] = http_clock_ms(CLOCK_MONOTONIC) + HTTP_LEAVING_MS;
}

static bool has_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info && info->num_connections > 0;
}

// Ends the daemons that go and have nobody left, or whose time is over.
static void end_leaving(struct http_listeners *listeners) {
    for (size_t i = 0; i < listeners->n; i++) {
        struct MHD_Daemon *daemon = listeners->live[i];
        if (listeners->ends_ms[i] == 0 ||
            (has_connections(daemon) && http_clock_ms(CLOCK_MONOTONIC) < listeners->ends_ms[i]))
            continue;
        MHD_stop_daemon(daemon);
        listeners->live[i] = NULL;
        listeners->fds[1 + i].fd = -1;
        listeners->ends_ms[i] = 0;
        pthread_mutex_lock(&listeners->lock);
        listeners->taken[i] = false;
        pthread_mutex_unlock(&listeners->lock);
    }
}

// Returns whether the thread must end.
static bool take_news(struct http_listeners *listeners) {
    eventfd_t count;
    eventfd_read(listeners->wake_fd, &count);
    pthread_mutex_lock(&listeners->lock);
    bool stopping = listeners->stopping;
    for (size_t i = 0; i < listeners->n; i++)
        if (listeners->arriving[i])
            take_over(listeners, i);
    for (size_t i = 0; i < listeners->n; i++) {
        if (listeners->leaving[i])
            begin_leaving(listeners, i);
        listeners->leaving[i] = false;
    }
    pthread_mutex_unlock(&listeners->lock);
    return stopping;
}

static bool any_ready(const struct pollfd *fds, size_t n) {
    size_t i = 0;
    while (i < n && !fds[i].revents)
        i++;
    return i < n;
}

int http_listeners_wait(struct http_listeners *listeners, int timeout_ms) {
    struct pollfd *doors = listeners->fds + 1 + listeners->n;
    size_t n_doors = listeners->deaf ? 0 : listeners->n;
    if (listeners->deaf && (timeout_ms < 0 || timeout_ms > DEAF_MS))
        timeout_ms = DEAF_MS;
    listeners->deaf = false;
    int ready = poll(listeners->fds, 1 + listeners->n + n_doors, timeout_ms);
    if (ready > 0 && listeners->fds[0].revents && take_news(listeners))
        return -1;
    return ready > 0 && any_ready(doors, n_doors);
}

void http_listeners_turn_deaf(struct http_listeners *listeners) { listeners->deaf = true; }

void http_listeners_pause(struct http_listeners *listeners) { (void)poll(listeners->fds, 1, DEAF_MS); }

void http_listeners_run(struct http_listeners *listeners) {
    for (size_t i = 0; i < listeners->n; i++)
        if (listeners->live[i])
            MHD_run(listeners->live[i]);
    end_leaving(listeners);
}

int http_listeners_timeout(const struct http_listeners *listeners) {
    int timeout_ms = -1;
    for (size_t i = 0; i < listeners->n; i++) {
        MHD_UNSIGNED_LONG_LONG ms;
        if (listeners->ends_ms[i] > 0)
            timeout_ms = LEAVING_LOOK_MS; // whether its last connection has ended
        if (!listeners->live[i] || MHD_get_timeout(listeners->live[i], &ms) != MHD_YES)
            continue;
        if (ms > TIMEOUT_MS_MAX)
            ms = TIMEOUT_MS_MAX;
        if (timeout_ms < 0 || (int)ms < timeout_ms)
            timeout_ms = (int)ms;
    }
    return timeout_ms;
}

size_t http_listeners_find(const struct http_listeners *listeners, const struct MHD_Daemon *daemon) {
    size_t i = 0;
    while (i + 1 < listeners->n && listeners->live[i] != daemon)
        i++;
    return i;
}

bool http_listeners_keep_waiting(struct http_listeners *listeners) {
    return poll(listeners->fds + 1 + listeners->n, listeners->n, 0) > 0;
}
