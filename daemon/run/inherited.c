// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/inherited.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

static const char ORIGIN[] = "--web.systemd-socket";

static int describe(struct inherited_socket *out, struct errors *errors) {
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    bool ipv6 = sd_is_socket(out->fd, AF_INET6, SOCK_STREAM, 1) > 0;
    if ((!ipv6 && sd_is_socket(out->fd, AF_INET, SOCK_STREAM, 1) <= 0) ||
        getsockname(out->fd, (struct sockaddr *)&bound, &length) < 0)
        return errors_add(errors, ORIGIN, 0, 0,
                          "file descriptor %d is not a listening TCP socket: write ListenStream=ADDRESS:PORT in the "
                          "socket unit",
                          out->fd);
    const struct sockaddr_in6 *in6 = (const void *)&bound;
    const struct sockaddr_in *in = (const void *)&bound;
    const void *number = ipv6 ? (const void *)&in6->sin6_addr : (const void *)&in->sin_addr;
    (void)inet_ntop(ipv6 ? AF_INET6 : AF_INET, number, out->address, sizeof out->address);
    out->port = ntohs(ipv6 ? in6->sin6_port : in->sin_port);
    (void)snprintf(out->text, sizeof out->text, ipv6 ? "[%.46s]:%u" : "%.46s:%u", out->address, out->port);
    return 0;
}

int inherited_take(struct inherited *inherited, struct errors *errors) {
    int n = sd_listen_fds(1), r = 0;
    if (n <= 0)
        return errors_add(errors, ORIGIN, 0, 0,
                          "systemd has passed no socket: start topdownd.socket, or remove the option and set listen");
    if (n > HTTP_ADDRESSES_MAX)
        return errors_add(errors, ORIGIN, 0, 0, "systemd has passed %d sockets: %d are the most", n,
                          HTTP_ADDRESSES_MAX);
    for (int i = 0; i < n && r == 0; i++) {
        inherited->sockets[i].fd = SD_LISTEN_FDS_START + i;
        r = describe(&inherited->sockets[i], errors);
    }
    if (r == 0)
        inherited->n = (size_t)n;
    return r;
}

void inherited_raise_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
