// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_CONTROL_H
#define TOPDOWND_DAEMON_RUN_CONTROL_H

// The daemon's control socket, through which `topdownd yield` asks for the counters.
//
// A Unix stream socket with mode 0660 in the runtime directory, so that root and the daemon's group may use it: to be
// able to connect is to be allowed. One line comes in, one goes out, and the connection is closed:
//     yield SECONDS   ->   ok SECONDS          1 to 3600, or 0 to take the counters back
//                     ->   error TEXT

#include <systemd/sd-event.h>

#include "core/base/error.h"

// The runtime directory that systemd makes, and the socket's name in it.
#define CONTROL_FOLDER "/run/topdownd"
#define CONTROL_NAME "control.sock"

enum { CONTROL_YIELD_SECONDS_MAX = 3600, CONTROL_REQUEST_MAX = 128, CONTROL_ANSWER_MAX = 256 };

// Yields the counters: they are free when it returns. 0 takes them back. Returns 0 or a negative errno.
typedef int control_yield(double seconds, void *context);

struct control; // private

// Listens in `folder` (--path.run), else in $RUNTIME_DIRECTORY, else in CONTROL_FOLDER if it is writable. It replaces a
// dead daemon's socket. Returns 0; -EINVAL with the reason in `errors` if the folder was given and cannot be used, for
// instance because another daemon listens there; or another negative errno. *out is NULL if there is no folder, or none
// for this daemon, which is logged. `loop` must outlive it.
int control_new(sd_event *loop, const char *folder, control_yield *yield, void *context, struct errors *errors,
                struct control **out);
// Starts answering; until then requests wait in the kernel's queue. Returns 0 or a negative errno.
int control_start(struct control *control);

// Serves a client on a connected socket that does not block, and takes it over.
void control_take_client(struct control *control, int fd);

struct control *control_free(struct control *control); // removes the socket

#endif
