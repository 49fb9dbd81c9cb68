// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/ask.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/clocks.h"
#include "daemon/base/run_folder.h"
#include "daemon/run/control.h"

enum { CONNECT_S = 10, TRIES_MAX = 20, AGAIN_MS = 100 };
static const uint64_t MILLISECOND_NS = UINT64_C(1000000);

char *ask_path(const struct options *options) {
    char *path;
    if (options->paths.socket)
        return strdup(options->paths.socket);
    return asprintf(&path, "%s/%s", options->paths.run ? options->paths.run : RUN_FOLDER, CONTROL_NAME) < 0 ? NULL
                                                                                                            : path;
}

static const char *remedy(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "no topdownd listens there: start the service (systemctl start topdownd); one that is started by hand "
               "needs "
               "--path.run DIR, and this command the same";
    case ECONNREFUSED:
        return "the topdownd that listened there has ended: start it again";
    case EACCES:
    case EPERM:
        return "not allowed: run this as root, or as a member of the group topdownd";
    case EAGAIN:
        return "the daemon does not answer: it is stopped or busy; see its log";
    case ECONNRESET:
        return "the daemon has ended, or is about to: see its log";
    default:
        return strerror(error);
    }
}

// Returns 0 or an errno. The time-out for sending also limits connect.
static int connect_to(int fd, const char *path) {
    const struct timeval timeout = {.tv_sec = CONNECT_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    return connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
}

// Reads until the daemon closes the connection, or until the deadline. Returns 0 or an errno.
static int read_answer(int fd, uint64_t deadline_ns, char *answer, size_t size) {
    size_t length = 0;
    struct pollfd input = {.fd = fd, .events = POLLIN};
    for (uint64_t now_ns; length + 1 < size && (now_ns = clocks_now_ns()) < deadline_ns;) {
        if (poll(&input, 1, (int)((deadline_ns - now_ns) / MILLISECOND_NS) + 1) <= 0)
            continue;
        ssize_t n = read(fd, answer + length, size - 1 - length);
        if (n < 0)
            return errno;
        if (n == 0)
            return length > 0 ? 0 : ECONNRESET;
        length += (size_t)n;
        answer[length] = '\0';
    }
    return EAGAIN;
}

static int ask(int fd, const char *path, const char *request, uint64_t deadline_ns, char *answer, size_t size) {
    int r = connect_to(fd, path);
    if (r != 0)
        return r;
    ssize_t length = (ssize_t)strlen(request);
    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        return errno;
    return read_answer(fd, deadline_ns, answer, size);
}

// Returns 0 or an errno.
static int ask_once(const char *path, const char *request, uint64_t deadline_ns, char *answer, size_t size) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = fd < 0 ? errno : ask(fd, path, request, deadline_ns, answer, size);
    if (fd >= 0)
        (void)close(fd);
    return r;
}

// Where others flood the socket, its queue is full, or the daemon has ended this connection for a newer one. Both pass.
// Every request may be made twice.
static bool passes(int error) { return error == EAGAIN || error == ECONNRESET || error == EPIPE; }

int ask_quietly(const char *path, const char *request, unsigned timeout_s, char *answer, size_t size) {
    uint64_t deadline_ns = clocks_now_ns() + timeout_s * 1000 * MILLISECOND_NS;
    int r = ask_once(path, request, deadline_ns, answer, size);
    for (int tries = 1; passes(r) && tries < TRIES_MAX && clocks_now_ns() + AGAIN_MS * MILLISECOND_NS < deadline_ns;
         tries++) {
        (void)poll(NULL, 0, AGAIN_MS);
        int again = ask_once(path, request, deadline_ns, answer, size);
        if (again == ECONNREFUSED || again == ENOENT)
            break; // it was ending
        r = again;
    }
    return -r;
}

int ask_daemon(const char *path, const char *request, unsigned timeout_s, char *answer, size_t size,
               char why[static ASK_WHY_MAX]) {
    int r = ask_quietly(path, request, timeout_s, answer, size);
    bool understood = r == 0 && (strncmp(answer, "ok", 2) == 0 || strncmp(answer, "error ", 6) == 0);
    if (!understood)
        (void)snprintf(why, ASK_WHY_MAX, "%s: %s", path,
                       r < 0 ? remedy(-r) : "the answer is not topdownd's: is this its control socket?");
    return understood ? 0 : -1;
}
