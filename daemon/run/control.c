// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/control.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/base/run_folder.h"

// Clients cannot cost much: at most CLIENTS_MAX are connected, each for at most CLIENT_TIMEOUT_US and with
// CONTROL_REQUEST_MAX bytes. If all places are taken, a new client replaces the one that has waited longest without a
// full request, so idle clients cannot lock out others. At most ACCEPTS_A_SECOND connections are accepted, so that an
// accept that keeps failing (no file left) does not turn the loop into a busy loop. So many as BACKLOG may wait for
// that: one that comes then waits in connect, and fails there only where it cannot wait.

enum {
    CLIENTS_MAX = 8,
    CLIENT_TIMEOUT_US = 5000000,
    BACKLOG = 128,
    SETTLE_US = 500000,
    ACCEPTS_A_SECOND = 50,
    SECOND_US = 1000000
};
static const char MARK[] = "mark ";
enum { SOCKET_MODE = 0660, LEASES_MAX = 8 };
static const double NS = 1e-9;

struct client {
    struct control *control;
    int fd; // -1: free
    sd_event_source *input, *timer;
    char request[CONTROL_REQUEST_MAX];
    size_t length;
    bool waiting;    // for a reload
    bool settling;   // it has ended, and is answered when the timer is due
    uint64_t number; // counts connections
};

// What a process asked for that measures meanwhile.
struct lease {
    pid_t pid;
    uint64_t until_ns; // one that is over is free
};

// For how long the counters are to be yielded.
struct wishes {
    uint64_t yielded_until_ns; // as `yield` asked for
    struct lease leases[LEASES_MAX];
};

struct control {
    sd_event *loop;
    struct control_requests requests;
    struct sockaddr_un address;
    int fd;
    bool bound; // we own the path
    sd_event_source *listener;
    struct client clients[CLIENTS_MAX];
    uint64_t n_connections;
    struct wishes wishes;
};

// ---- a client ----

// For a reload, which is under way or has ended.
static bool has_asked(const struct client *client) { return client->waiting || client->settling; }

static void client_close(struct client *client) {
    client->timer = sd_event_source_unref(client->timer);
    client->input = sd_event_source_unref(client->input);
    if (client->fd >= 0)
        (void)close(client->fd);
    client->fd = -1;
    client->length = 0;
    client->waiting = client->settling = false;
}

// A few lines always fit into the empty buffer of a socket.
__attribute__((format(printf, 2, 3))) static void answer(const struct client *client, const char *format, ...) {
    char line[ERROR_LINE_MAX + 8];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof line)
        (void)send(client->fd, line, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// The client's identity, for the log.
static struct ucred peer_of(const struct client *client) {
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    (void)getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size); // every Unix stream socket has one
    return peer;
}

// The process's lease, else a place for one; NULL: there are too many.
static struct lease *find_lease(struct control *control, pid_t pid, uint64_t now_ns) {
    struct lease *place = NULL;
    for (size_t i = 0; i < LEASES_MAX; i++) {
        struct lease *lease = &control->wishes.leases[i];
        if (lease->until_ns > now_ns && lease->pid == pid)
            return lease;
        if (lease->until_ns <= now_ns && !place)
            place = lease;
    }
    return place;
}

// How long the counters are still to be yielded: the longest wish wins.
static double seconds_left(const struct wishes *wishes, uint64_t now_ns) {
    uint64_t until_ns = wishes->yielded_until_ns;
    for (size_t i = 0; i < LEASES_MAX; i++)
        if (wishes->leases[i].until_ns > until_ns)
            until_ns = wishes->leases[i].until_ns;
    return until_ns > now_ns ? (double)(until_ns - now_ns) * NS : 0;
}

// Until when a client's wish lasts that begins now.
static uint64_t end_of(double seconds, uint64_t now_ns) { return seconds > 0 ? now_ns + (uint64_t)(seconds / NS) : 0; }

static int yield_counters(const struct client *client, double seconds) {
    const struct control *control = client->control;
    double longest = fmax(seconds, seconds_left(&control->wishes, clocks_now_ns()));
    return control->requests.yield(longest, control->requests.context);
}

static void answer_yield(const struct client *client, int r, double seconds) {
    if (r < 0)
        answer(client, "error %s\n", strerror(-r));
    else
        answer(client, "ok %.10g\n", seconds);
}

// Replaces the time before. Leases that last longer win over it, but taking the counters back ends them.
static void yield_to(const struct client *client, double seconds) {
    struct control *control = client->control;
    const struct wishes before = control->wishes;
    struct ucred peer = peer_of(client);
    control->wishes.yielded_until_ns = 0;
    if (seconds == 0)
        control->wishes = (struct wishes){0};
    int r = yield_counters(client, seconds);
    if (r < 0)
        control->wishes = before;
    else
        control->wishes.yielded_until_ns = end_of(seconds, clocks_now_ns());
    if (r >= 0 && seconds > 0)
        log_info("all counters are handed over for %.10g s: process %d of user %u asked for them", seconds,
                 (int)peer.pid, (unsigned)peer.uid);
    answer_yield(client, r, seconds);
}

// Only the beginning of a lease is news.
static void lease_to(const struct client *client, double seconds) {
    uint64_t now_ns = clocks_now_ns();
    struct ucred peer = peer_of(client);
    struct lease *lease = find_lease(client->control, peer.pid, now_ns);
    if (!lease) {
        answer(client, "error %d processes measure already: wait for one of them\n", LEASES_MAX);
        return;
    }
    const struct lease before = *lease;
    lease->until_ns = 0;
    int r = yield_counters(client, seconds);
    *lease = r < 0 ? before : (struct lease){.pid = peer.pid, .until_ns = end_of(seconds, clocks_now_ns())};
    if (r >= 0 && seconds > 0 && before.until_ns <= now_ns)
        log_info("all counters are handed over to process %d of user %u, which measures", (int)peer.pid,
                 (unsigned)peer.uid);
    answer_yield(client, r, seconds);
}

static void answer_reload(const struct client *client, int r, const struct errors *errors) {
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; r < 0 && i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        answer(client, "error %s\n", line);
    }
    if (r < 0 && errors->dropped > 0)
        answer(client, "error and %zu more\n", errors->dropped);
    else if (r < 0 && errors->n == 0)
        answer(client, "error %s\n", strerror(-r));
    else if (r == 0)
        answer(client, "ok\n");
    for (size_t i = 0; r == 0 && i < errors->n; i++) {
        error_format(&errors->items[i], line, sizeof line);
        answer(client, "warning %s\n", line);
    }
}

// A client that waits may take longer than others; it can only hang up meanwhile.
static void reload_for(struct client *client) {
    const struct control_requests *requests = &client->control->requests;
    const struct ucred peer = peer_of(client);
    struct errors errors = {0};
    log_info("process %d of user %u asks to reload the configuration", (int)peer.pid, (unsigned)peer.uid);
    int r = requests->reload(&errors, requests->context);
    if (r < 0) {
        answer_reload(client, r, &errors);
        return;
    }
    client->waiting = true;
    (void)sd_event_source_set_io_events(client->input, 0);
    (void)sd_event_source_set_enabled(client->timer, SD_EVENT_OFF);
}

static void answer_status(const struct client *client) {
    const struct control_requests *requests = &client->control->requests;
    struct text out = {0};
    text_string(&out, "ok\n");
    int r = requests->status(&out, requests->context);
    r = r == 0 && out.failed ? -ENOMEM : r;
    if (r < 0)
        answer(client, "error %s\n", strerror(-r));
    else
        (void)send(client->fd, out.data, out.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    text_free(&out);
}

static void mark_for(const struct client *client, const char *text) {
    const struct control_requests *requests = &client->control->requests;
    const struct ucred peer = peer_of(client);
    const char *why = NULL;
    int r = requests->mark(text, &why, requests->context);
    if (r < 0) {
        answer(client, "error %s\n", why ? why : strerror(-r));
        return;
    }
    log_info("process %d of user %u set a mark: %s", (int)peer.pid, (unsigned)peer.uid, text);
    answer(client, "ok\n");
}

// The request is a line without its end. Text from a client is never echoed.
static void serve(struct client *client) {
    static const char verbs[][sizeof "yield "] = {"yield ", "lease "}; // as long as each other
    const char *word = client->request + strlen(verbs[0]);
    bool lease = strncmp(client->request, verbs[1], strlen(verbs[1])) == 0;
    struct decimal number;
    bool whole = strlen(client->request) == client->length;
    if (whole && strcmp(client->request, "reload") == 0) {
        reload_for(client);
        return;
    }
    if (whole && strcmp(client->request, "status") == 0) {
        answer_status(client);
        return;
    }
    if (whole && strncmp(client->request, MARK, strlen(MARK)) == 0) {
        mark_for(client, client->request + strlen(MARK));
        return;
    }
    if (!whole || (!lease && strncmp(client->request, verbs[0], strlen(verbs[0])) != 0)) {
        answer(client, "error there is no such request: 'yield SECONDS', 'lease SECONDS', 'mark TEXT', 'reload' and "
                       "'status' are all\n");
        return;
    }
    if (!decimal_read(&word, &number) || *word != '\0' || decimal_value(number) > CONTROL_YIELD_SECONDS_MAX ||
        (number.digits > 0 && decimal_value(number) < 1)) {
        answer(client, "error the time is not 1 to %d seconds, nor 0\n", CONTROL_YIELD_SECONDS_MAX);
        return;
    }
    if (lease)
        lease_to(client, decimal_value(number));
    else
        yield_to(client, decimal_value(number));
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *context) {
    (void)source;
    (void)events;
    struct client *client = context;
    ssize_t n =
        has_asked(client) ? 0 : read(fd, client->request + client->length, sizeof client->request - client->length);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n > 0) {
        client->length += (size_t)n;
        char *end = memchr(client->request, '\n', client->length);
        if (!end && client->length < sizeof client->request)
            return 0;
        if (end) {
            *end = '\0';
            client->length = (size_t)(end - client->request);
            serve(client);
            if (client->waiting)
                return 0;
        } else {
            answer(client, "error the request is too long\n");
        }
    }
    client_close(client);
    return 0;
}

static int on_timeout(sd_event_source *source, uint64_t due_us, void *context) {
    (void)source;
    (void)due_us;
    struct client *client = context;
    const struct control_requests *requests = &client->control->requests;
    struct errors warnings = {0};
    if (client->settling) {
        requests->warn(&warnings, requests->context);
        answer_reload(client, 0, &warnings);
    }
    client_close(client);
    return 0;
}

static int client_open(struct client *client, int fd) {
    sd_event *loop = client->control->loop;
    client->fd = fd;
    int r = sd_event_add_io(loop, &client->input, fd, EPOLLIN, on_input, client);
    return r < 0 ? r
                 : sd_event_add_time_relative(loop, &client->timer, CLOCK_MONOTONIC, CLIENT_TIMEOUT_US, 0, on_timeout,
                                              client);
}

// ---- the socket ----

// True if one client gives way sooner than another: who has asked for a reload stays; else the older one.
static bool gives_way(const struct client *one, const struct client *other) {
    return has_asked(one) != has_asked(other) ? has_asked(other) : one->number < other->number;
}

// Returns a free place; if all are taken, it drops a client.
static struct client *make_place(struct control *control) {
    struct client *oldest = &control->clients[0];
    for (size_t i = 0; i < CLIENTS_MAX; i++) {
        if (control->clients[i].fd < 0)
            return &control->clients[i];
        if (gives_way(&control->clients[i], oldest))
            oldest = &control->clients[i];
    }
    client_close(oldest);
    return oldest;
}

void control_take_client(struct control *control, int fd) {
    struct client *client = make_place(control);
    client->number = control->n_connections++;
    if (client_open(client, fd) < 0)
        client_close(client);
    else
        (void)on_input(client->input, fd, EPOLLIN, client); // answers a request already sent before dropping the client
}

static int on_connection(sd_event_source *source, int listener, uint32_t events, void *context) {
    (void)source;
    (void)events;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) // else the client has gone, or no file is left: tried again
        control_take_client(context, fd);
    return 0;
}

static int control_refuse(const struct control *control, struct errors *errors, const char *what) {
    return errors_add(errors, control->address.sun_path, 0, 0, "%s", what);
}

static int control_fail(const struct control *control, struct errors *errors, int error) {
    return errors_add_failure(errors, control->address.sun_path, "cannot be made", error);
}

// Removes a dead daemon's socket. Returns 0 if the path is free now.
static int remove_stale(const struct control *control, struct errors *errors) {
    const char *path = control->address.sun_path;
    struct stat status;
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? 0 : control_fail(control, errors, errno);
    if (!S_ISSOCK(status.st_mode))
        return control_refuse(control, errors, "is not a socket: remove it, or name another folder with --path.run");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int r = connect(fd, (const struct sockaddr *)&control->address, sizeof control->address) < 0 ? errno : 0;
    (void)close(fd);
    if (r == 0 || r == EAGAIN)
        return control_refuse(control, errors,
                              "another topdownd listens there: end it, or name another folder with --path.run");
    if (r != ECONNREFUSED)
        return control_fail(control, errors, r);
    return unlink(path) < 0 ? control_fail(control, errors, errno) : 0;
}

// Sets the socket's mode before listen, since clients can connect from then on.
static int listen_at(struct control *control, const char *path, struct errors *errors) {
    control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (control->fd < 0)
        return -errno;
    control->address.sun_family = AF_UNIX;
    memcpy(control->address.sun_path, path, strlen(path) + 1);
    int r = remove_stale(control, errors);
    if (r < 0)
        return r;
    control->bound = bind(control->fd, (const struct sockaddr *)&control->address, sizeof control->address) == 0;
    if (!control->bound && errno == ENOENT)
        return control_refuse(control, errors, "there is no such folder: make it, or name another one with --path.run");
    if (!control->bound || chmod(path, SOCKET_MODE) < 0 || listen(control->fd, BACKLOG) < 0)
        return control_fail(control, errors, errno);
    return 0;
}

static int control_open(sd_event *loop, const char *folder, struct errors *errors, struct control **out) {
    char path[sizeof((struct sockaddr_un *)NULL)->sun_path];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, CONTROL_NAME) >= sizeof path)
        return errors_add(errors, folder, 0, 0,
                          "the path is too long for a socket: name a shorter one with --path.run");
    struct control *control = calloc(1, sizeof *control);
    if (!control)
        return -ENOMEM;
    *control = (struct control){.loop = loop, .fd = -1};
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        control->clients[i] = (struct client){.control = control, .fd = -1};
    int r = listen_at(control, path, errors);
    if (r < 0)
        control_free(control);
    else
        *out = control;
    return r < 0 ? r : 0;
}

// ---- the folder ----

int control_new(sd_event *loop, const char *folder, const struct control_requests *requests, struct errors *errors,
                struct control **out) {
    char *made = folder ? NULL : run_folder_of_systemd();
    bool named = folder || made;
    struct errors unnamed = {0};
    struct control *control = NULL;
    int r = 0;
    // If started by hand, there may be no folder. That is no error: `yield` tells how to get a socket.
    if (named || access(RUN_FOLDER, W_OK | X_OK) == 0)
        r = control_open(loop, folder ? folder : made ? made : RUN_FOLDER, named ? errors : &unnamed, &control);
    free(made);
    if (!named && r == -EINVAL) {
        log_errors(&unnamed);
        r = 0;
    }
    if (control)
        control->requests = *requests;
    if (r == 0)
        *out = control;
    return r;
}

int control_start(struct control *control) {
    int r = sd_event_add_io(control->loop, &control->listener, control->fd, EPOLLIN, on_connection, control);
    if (r >= 0)
        r = sd_event_source_set_ratelimit(control->listener, SECOND_US, ACCEPTS_A_SECOND);
    return r < 0 ? r : 0;
}

// False: the client cannot wait. The loop's own time may be that of an event long ago.
static bool settle(struct client *client) {
    client->waiting = false;
    client->settling = true;
    return sd_event_source_set_time(client->timer, clocks_now_ns() / 1000 + SETTLE_US) >= 0 &&
           sd_event_source_set_enabled(client->timer, SD_EVENT_ONESHOT) >= 0;
}

void control_end_reload(struct control *control, int r, const struct errors *errors) {
    struct errors warnings = {0};
    if (control && r == 0)
        control->requests.warn(&warnings, control->requests.context);
    for (size_t i = 0; control && i < CLIENTS_MAX; i++) {
        struct client *client = &control->clients[i];
        if (!client->waiting || (warnings.n > 0 && settle(client)))
            continue;
        answer_reload(client, r, r == 0 ? &warnings : errors);
        client_close(client);
    }
}

struct control *control_free(struct control *control) {
    if (!control)
        return NULL;
    control->listener = sd_event_source_unref(control->listener);
    for (size_t i = 0; i < CLIENTS_MAX; i++)
        client_close(&control->clients[i]);
    if (control->bound)
        (void)unlink(control->address.sun_path);
    if (control->fd >= 0)
        (void)close(control->fd);
    free(control);
    return NULL;
}
