// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 5, PIECE_BYTES = 65536, REQUEST_MAX = 256 };

static int connect_to(const char *address, uint16_t port) {
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    const struct sockaddr_in four = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_loopback};
    bool is_six = strchr(address, ':') != NULL;
    int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    int r = is_six ? connect(fd, (const struct sockaddr *)&six, sizeof six)
                   : connect(fd, (const struct sockaddr *)&four, sizeof four);
    if (r == 0)
        return fd;
    r = -errno;
    (void)close(fd);
    return r;
}

static int read_all(int fd, struct text *out) {
    for (;;) {
        char *room = out->length < LOOPBACK_BYTES_MAX ? text_room(out, PIECE_BYTES) : NULL;
        if (!room)
            return out->failed ? -ENOMEM : -EFBIG;
        ssize_t n = read(fd, room, PIECE_BYTES);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        out->length += (size_t)n;
    }
}

// HTTP/1.0: the server ends the answer by closing the connection.
static int ask(int fd, const char *path, struct text *out) {
    static const char end_of_head[] = "\r\n\r\n", status[] = "HTTP/1.1 200 ";
    char request[REQUEST_MAX];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length)
        return -errno;
    struct text answer = {0};
    int r = read_all(fd, &answer);
    const char *body = r == 0 ? memmem(answer.data, answer.length, end_of_head, sizeof end_of_head - 1) : NULL;
    bool is_page = body && strncmp(answer.data, status, strlen("HTTP/1.")) == 0 &&
                   strncmp(answer.data + strlen("HTTP/1.1"), status + strlen("HTTP/1.1"), strlen(" 200 ")) == 0;
    if (is_page) {
        body += sizeof end_of_head - 1;
        text_append(out, body, (size_t)(answer.data + answer.length - body));
    }
    text_free(&answer);
    return r < 0 ? r : is_page ? 0 : -EPROTO;
}

int loopback_get(const char *address, uint16_t port, const char *path, struct text *out) {
    int fd = connect_to(address, port);
    if (fd < 0)
        return fd;
    int r = ask(fd, path, out);
    (void)close(fd);
    return r;
}
