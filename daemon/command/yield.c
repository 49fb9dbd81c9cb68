// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/yield.h"

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
#include "daemon/run/control.h"

enum { TIMEOUT_S = 10 };
static const uint64_t MILLISECOND_NS = UINT64_C(1000000);

static int yield_fail(const char *path, const char *text) {
    (void)fprintf(stderr, "topdownd: %s: %s\n", path, text);
    return EXIT_FAILURE;
}

static const char *remedy(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return "no topdownd listens there: start the service (systemctl start topdownd); one that is started by hand "
               "needs "
               "--path.run DIR, and yield the same";
    case ECONNREFUSED:
        return "the topdownd that listened there has ended: start it again";
    case EACCES:
    case EPERM:
        return "not allowed: run this as root, or as a member of the group topdownd";
    case EAGAIN:
        return "the daemon does not answer: it is stopped or busy; see its log";
    default:
        return strerror(error);
    }
}

// Returns 0 or an errno. The time-out for sending also limits connect.
static int connect_to(int fd, const char *path) {
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path) + 1);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    return connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
}

// Reads a line, without its end, until the deadline. Returns 0 or an errno.
static int read_line(int fd, uint64_t deadline_ns, char *line, size_t size) {
    size_t length = 0;
    struct pollfd input = {.fd = fd, .events = POLLIN};
    for (uint64_t now_ns; length + 1 < size && (now_ns = clocks_now_ns()) < deadline_ns;) {
        if (poll(&input, 1, (int)((deadline_ns - now_ns) / MILLISECOND_NS) + 1) <= 0)
            continue;
        ssize_t n = read(fd, line + length, size - 1 - length);
        if (n <= 0)
            return n < 0 ? errno : ECONNRESET;
        length += (size_t)n;
        line[length] = '\0';
        char *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
            return 0;
        }
    }
    return EAGAIN;
}

static int ask(int fd, const char *path, double seconds, char *line, size_t size) {
    uint64_t deadline_ns = clocks_now_ns() + TIMEOUT_S * 1000 * MILLISECOND_NS;
    char request[CONTROL_REQUEST_MAX];
    int r = connect_to(fd, path);
    if (r != 0)
        return r;
    int length = snprintf(request, sizeof request, "yield %.10g\n", seconds);
    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        return errno;
    return read_line(fd, deadline_ns, line, size);
}

static int say_answer(const char *path, const char *line, double seconds) {
    if (strncmp(line, "error ", 6) == 0)
        return yield_fail(path, line + 6);
    if (strncmp(line, "ok ", 3) != 0)
        return yield_fail(path, "the answer is not topdownd's: is this its control socket?");
    if (seconds > 0)
        (void)printf("all counters are free for %.10g s\n", seconds);
    else
        (void)puts("topdownd measures again");
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int yield_run(const struct options *options) {
    char *made = NULL, line[CONTROL_ANSWER_MAX];
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || asprintf(&made, "%s/%s", options->run ? options->run : CONTROL_FOLDER, CONTROL_NAME) < 0) {
        if (fd >= 0)
            (void)close(fd);
        return yield_fail("yield", strerror(errno));
    }
    const char *path = options->socket ? options->socket : made;
    int r = ask(fd, path, options->yield.seconds, line, sizeof line);
    int status = r != 0 ? yield_fail(path, remedy(r)) : say_answer(path, line, options->yield.seconds);
    (void)close(fd);
    free(made);
    return status;
}
