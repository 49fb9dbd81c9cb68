// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_listeners.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "exporters/http/http_clock.h"

enum { TIMEOUT_MS_MAX = 60000, DEAF_MS = 100, LEAVING_LOOK_MS = 100 };

enum woken_by { BY_NEWS, BY_TRAFFIC, BY_KNOCK, BY_TIMER };

static int watch(const struct http_listeners *listeners, int fd, enum woken_by what) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};
    return epoll_ctl(listeners->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void close_fds(const struct http_listeners *listeners) {
    const int fds[] = {listeners->timer_fd, listeners->epoll_fd, listeners->wake_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static int open_fds(struct http_listeners *listeners) {
    listeners->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    listeners->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    listeners->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (listeners->wake_fd < 0 || listeners->epoll_fd < 0 || listeners->timer_fd < 0)
        return -errno;
    int r = watch(listeners, listeners->wake_fd, BY_NEWS);
    return r < 0 ? r : watch(listeners, listeners->timer_fd, BY_TIMER);
}

int http_listeners_init(struct http_listeners *listeners, size_t n) {
    *listeners = (struct http_listeners){.n = n, .timer_ms = UINT64_MAX};
    int r = open_fds(listeners);
    if (r < 0) {
        close_fds(listeners);
        return r;
    }
    for (size_t i = 0; i < 1 + 2 * n; i++)
        listeners->fds[i] = (struct pollfd){.fd = i == 0 ? listeners->wake_fd : -1, .events = POLLIN};
    pthread_mutex_init(&listeners->lock, NULL);
    return 0;
}

void http_listeners_deinit(struct http_listeners *listeners) {
    listeners->before_end(listeners->context);
    for (size_t i = 0; i < listeners->n; i++) {
        if (listeners->live[i])
            MHD_stop_daemon(listeners->live[i]);
        if (listeners->arriving[i])
            MHD_stop_daemon(listeners->arriving[i]);
    }
    pthread_mutex_destroy(&listeners->lock);
    close_fds(listeners);
}

static int epoll_fd_of(struct MHD_Daemon *daemon) {
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

static int listen_fd_of(struct MHD_Daemon *daemon) {
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd;
}

// The thread wakes before it can see traffic of a daemon that it does not have yet.
int http_listeners_hand_over(struct http_listeners *listeners, size_t i, struct MHD_Daemon *daemon) {
    pthread_mutex_lock(&listeners->lock);
    eventfd_write(listeners->wake_fd, 1); // cannot fail: its count is small
    int r = watch(listeners, epoll_fd_of(daemon), BY_TRAFFIC);
    if (r == 0)
        r = watch(listeners, listen_fd_of(daemon), BY_KNOCK);
    if (r == 0) {
        listeners->arriving[i] = daemon;
        listeners->taken[i] = true;
    }
    pthread_mutex_unlock(&listeners->lock);
    return r;
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

int http_listeners_start(pthread_t *thread, void *(*serve)(void *context), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = pthread_create(thread, NULL, serve, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -r;
}

static void take_over(struct http_listeners *listeners, size_t i) {
    struct MHD_Daemon *daemon = listeners->arriving[i];
    listeners->live[i] = daemon;
    listeners->arriving[i] = NULL;
    listeners->fds[1 + i].fd = epoll_fd_of(daemon);
    listeners->fds[1 + listeners->n + i].fd = listen_fd_of(daemon);
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
        listeners->before_end(listeners->context);
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

static void set_timer(struct http_listeners *listeners, int timeout_ms) {
    uint64_t now_ms = http_clock_ms(CLOCK_MONOTONIC);
    if (timeout_ms <= 0 || now_ms + (uint64_t)timeout_ms >= listeners->timer_ms)
        return; // nothing to wait for, or it rings before
    const struct itimerspec once = {
        .it_value = {.tv_sec = timeout_ms / 1000, .tv_nsec = (long)(timeout_ms % 1000) * 1000000}};
    (void)timerfd_settime(listeners->timer_fd, 0, &once, NULL);
    listeners->timer_ms = now_ms + (uint64_t)timeout_ms;
}

static void take_ring(struct http_listeners *listeners) {
    uint64_t n;
    (void)!read(listeners->timer_fd, &n, sizeof(n));
    listeners->timer_ms = UINT64_MAX;
}

static int wait_deaf(struct http_listeners *listeners, int timeout_ms) {
    if (timeout_ms < 0 || timeout_ms > DEAF_MS)
        timeout_ms = DEAF_MS;
    listeners->deaf = false;
    int ready = poll(listeners->fds, 1 + listeners->n, timeout_ms);
    return ready > 0 && listeners->fds[0].revents && take_news(listeners) ? -1 : 0;
}

int http_listeners_wait(struct http_listeners *listeners, int timeout_ms) {
    struct epoll_event events[2 + 2 * HTTP_PLACES_MAX];
    bool by[] = {[BY_NEWS] = false, [BY_TRAFFIC] = false, [BY_KNOCK] = false, [BY_TIMER] = false};
    if (listeners->deaf)
        return wait_deaf(listeners, timeout_ms);
    set_timer(listeners, timeout_ms);
    int n = epoll_wait(listeners->epoll_fd, events, sizeof(events) / sizeof(events[0]), timeout_ms == 0 ? 0 : -1);
    for (int i = 0; i < n; i++)
        by[events[i].data.u32] = true;
    if (by[BY_TIMER])
        take_ring(listeners);
    return by[BY_NEWS] && take_news(listeners) ? -1 : by[BY_KNOCK];
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
