// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 5, PIECE_BYTES = 65536, REQUEST_MAX = 256 };

union at {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
};

// Returns the length of the socket's address; 0: there is no such address.
static socklen_t resolve(const char *address, uint16_t port, union at *at) {
    *at = (union at){.any = {.sa_family = *address == '/' ? AF_UNIX : strchr(address, ':') ? AF_INET6 : AF_INET}};
    if (at->any.sa_family == AF_UNIX) {
        if (strlen(address) >= sizeof at->path.sun_path)
            return 0;
        memcpy(at->path.sun_path, address, strlen(address) + 1);
        return sizeof at->path;
    }
    if (at->any.sa_family == AF_INET6) {
        at->six.sin6_port = htons(port);
        if (inet_pton(AF_INET6, address, &at->six.sin6_addr) != 1 || IN6_IS_ADDR_UNSPECIFIED(&at->six.sin6_addr))
            at->six.sin6_addr = in6addr_loopback;
        return sizeof at->six;
    }
    at->four.sin_port = htons(port);
    if (inet_pton(AF_INET, address, &at->four.sin_addr) != 1 || at->four.sin_addr.s_addr == htonl(INADDR_ANY))
        at->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return sizeof at->four;
}

static int connect_to(const char *address, uint16_t port) {
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    union at at;
    socklen_t length = resolve(address, port, &at);
    int fd = length > 0 ? socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return length > 0 ? -errno : -ENAMETOOLONG;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (connect(fd, &at.any, length) == 0)
        return fd;
    int r = -errno;
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
