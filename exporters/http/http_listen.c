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
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// A flood of connections fills the kernel's queue while a page is rendered. What finds no place in it comes again after
// a second, which is longer than many a scrape may take. The kernel takes net.core.somaxconn where that is less.
enum { BACKLOG = 2048 };

// What the kernel keeps for a client that does not read: so many bytes (it doubles them for its own needs) and for so
// long, also after we have closed the connection. Connections inherit both.
enum { SEND_BYTES = 128 << 10, UNREAD_MS_MAX = 30000 };

bool http_listen_is_loopback(const char *address) {
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

bool http_listen_all_loopback(const struct http_address *addresses, size_t n) {
    bool all = true;
    for (size_t i = 0; i < n; i++)
        all = all && http_listen_is_loopback(addresses[i].address);
    return all;
}

bool http_listen_is_path(const char *address) { return *address == '/'; }

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

// ---- Unix sockets ----

// Removes a socket that nobody listens at. Returns 0 if the path is free, or an errno.
static int remove_stale(const struct sockaddr_un *at) {
    struct stat status;
    if (lstat(at->sun_path, &status) < 0)
        return errno == ENOENT ? 0 : errno;
    if (!S_ISSOCK(status.st_mode))
        return EEXIST;
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0)
        return errno;
    int error = connect(s, (const struct sockaddr *)at, sizeof(*at)) < 0 ? errno : EADDRINUSE;
    close(s);
    if (error == EAGAIN)
        return EADDRINUSE;
    return error != ECONNREFUSED ? error : unlink(at->sun_path) < 0 ? errno : 0;
}

// Returns 0 or an errno. Its mode is set before clients can connect.
static int bind_path(int fd, const char *path) {
    enum { MODE = 0666 };
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(at.sun_path))
        return ENAMETOOLONG;
    memcpy(at.sun_path, path, strlen(path) + 1);
    int error = remove_stale(&at);
    if (error != 0)
        return error;
    if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
        return errno;
    return chmod(path, MODE) < 0 || listen(fd, BACKLOG) < 0 ? errno : 0;
}

static const char *path_remedy(int error) {
    switch (error) {
    case ENOENT:
        return "there is no such folder: make it, or name another one";
    case EADDRINUSE:
        return "somebody listens there, perhaps another topdownd: end it, or name another path";
    case EEXIST:
        return "is not a socket: remove it, or name another path";
    default:
        return strerror(error);
    }
}

static int listen_at_path(const struct http_address *address, struct errors *errors, int *fd) {
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = s < 0 ? errno : bind_path(s, address->address);
    if (error == 0) {
        *fd = s;
        return 0;
    }
    if (s >= 0)
        close(s);
    (void)errors_add(errors, NULL, 0, 0, "%s: %s", address->text, path_remedy(error));
    errors->passing = errors->passing || error_passes(error);
    return error == EADDRINUSE || error_passes(error) ? -EAGAIN : -EINVAL;
}

// ---- TCP ----

int http_listen(const struct http_address *address, struct errors *errors, int *fd, uint16_t *port) {
    char service[8];
    if (http_listen_is_path(address->address)) {
        *port = 0;
        return listen_at_path(address, errors, fd);
    }
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
