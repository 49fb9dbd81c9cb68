// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128 };

// What the kernel keeps for a client that does not read: so many bytes (it doubles them for its own needs) and for so
// long, also after we have closed the connection. Connections inherit both.
enum { SEND_BYTES = 128 << 10, UNREAD_MS_MAX = 30000 };

bool http_listen_is_loopback(const char *address) {
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

// The cause and its remedy, for people.
static const char *remedy(int error) {
    switch (error) {
    case EADDRINUSE:
        return "the port is taken, perhaps by another topdownd: stop it, or set listen to another port";
    case EACCES:
        return "not allowed to use this port: set listen to a port from 1024 on, or grant CAP_NET_BIND_SERVICE";
    case EADDRNOTAVAIL:
        return "this host does not have the address: set listen to one of its own ('ip address' shows them), or to "
               "0.0.0.0 or [::] for all";
    case EAFNOSUPPORT:
        return "the kernel does not offer this kind of address (IPv6 may be switched off): set listen to one of the "
               "other kind";
    case EMFILE:
    case ENFILE:
        return "no file descriptor is left: raise LimitNOFILE of the service";
    case ENOMEM:
    case ENOBUFS:
        return "memory is short";
    default:
        return strerror(error);
    }
}

// What a person must change: the configuration, a privilege, this process's limit of files, or a kernel without such
// addresses.
static bool is_lasting(int error) {
    switch (error) {
    case EACCES:
    case EPERM:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ENOPROTOOPT:
    case EINVAL:
    case EMFILE:
        return true;
    default:
        return false;
    }
}

int http_listen_refuse(const struct http_address *address, struct errors *errors, int error) {
    (void)errors_add(errors, NULL, 0, 0, "%s: %s", address->text, remedy(error));
    errors->passing = errors->passing || error_passes(error);
    return is_lasting(error) ? -EINVAL : -EAGAIN;
}

static int limit_unread(int fd) {
    const int send_bytes = SEND_BYTES, unread_ms = UNREAD_MS_MAX;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes)) < 0)
        return -1;
    return setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unread_ms, sizeof(unread_ms));
}

int http_listen_adopt(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || limit_unread(fd) < 0 ? -errno : 0;
}

static int set_options(int fd, int family) {
    const int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 || limit_unread(fd) < 0)
        return -1;
    // [::] and 0.0.0.0 on one port are two addresses
    return family == AF_INET6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) : 0;
}

// Returns the bound port, or 0 with errno set.
static uint16_t bind_and_listen(int fd, const struct addrinfo *info) {
    struct sockaddr_storage bound;
    socklen_t length = sizeof(bound);
    if (set_options(fd, info->ai_family) < 0 || bind(fd, info->ai_addr, info->ai_addrlen) < 0 ||
        listen(fd, BACKLOG) < 0 || getsockname(fd, (struct sockaddr *)&bound, &length) < 0)
        return 0;
    return ntohs(info->ai_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                             : ((struct sockaddr_in *)&bound)->sin_port);
}

int http_listen(const struct http_address *address, struct errors *errors, int *fd, uint16_t *port) {
    char service[8];
    (void)snprintf(service, sizeof(service), "%u", address->port);
    const struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *info;
    if (getaddrinfo(address->address, service, &hints, &info) != 0)
        return errors_add(errors, NULL, 0, 0,
                          "%s: not a numeric address: write one such as 127.0.0.1:10813 or [::1]:10813", address->text);
    int s = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    uint16_t bound = s < 0 ? 0 : bind_and_listen(s, info);
    int error = errno;
    freeaddrinfo(info);
    if (bound == 0) {
        if (s >= 0)
            close(s);
        return http_listen_refuse(address, errors, error);
    }
    *fd = s;
    *port = bound;
    return 0;
}
