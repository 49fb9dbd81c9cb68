// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_INHERITED_H
#define TOPDOWND_DAEMON_RUN_INHERITED_H

// Listening sockets that systemd has made and passes to the daemon (sd_listen_fds(3)). They need no privilege of the
// daemon, and clients that come while it restarts wait.

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "exporters/http/http.h"

enum { INHERITED_TEXT_MAX = 64 };

struct inherited_socket {
    int fd;
    char text[INHERITED_TEXT_MAX];    // "address:port"
    char address[INHERITED_TEXT_MAX]; // numeric, without brackets
    uint16_t port;
};

struct inherited {
    struct inherited_socket sockets[HTTP_ADDRESSES_MAX];
    size_t n; // 0: none were asked for
};

// Takes the sockets. The environment no longer names them then. Returns 0, or -EINVAL with the reason in `errors`:
// there are none, or one of them is no listening TCP socket.
int inherited_take(struct inherited *inherited, struct errors *errors);

// Raises the inherited limit of open files as far as it may be: each event and CPU takes one.
void inherited_raise_files(void);

#endif
