// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_ASK_H
#define TOPDOWND_DAEMON_RUN_ASK_H

// Asks the running daemon through its control socket (daemon/run/control.h).

#include <stddef.h>

#include "daemon/base/options.h"

// The socket that --socket or --path.run names, or else systemd's. The caller frees it; NULL if out of memory.
char *ask_path(const struct options *options);

// Sends the request line and reads the whole answer, for at most timeout_s; tries again where too many others ask.
// Returns 0 or a negative errno, such as -ENOENT (no daemon has listened there), -ECONNREFUSED (it has ended) and
// -EACCES (it may not be asked).
int ask_quietly(const char *path, const char *request, unsigned timeout_s, char *answer, size_t size);

// The same; if there is no answer, or one that is neither "ok ..." nor "error ...", writes why and what to do, and
// returns -1.
enum { ASK_WHY_MAX = 512 };
int ask_daemon(const char *path, const char *request, unsigned timeout_s, char *answer, size_t size,
               char why[static ASK_WHY_MAX]);

#endif
