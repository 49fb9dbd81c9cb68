// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_CONTROL_H
#define TOPDOWND_DAEMON_RUN_CONTROL_H

// The daemon's control socket, through which `topdownd yield` asks for the counters.
//
// A Unix stream socket with mode 0660 in the runtime directory, so that root and the daemon's group may use it: to be
// able to connect is to be allowed. One line comes in, an answer goes out, and the connection is closed:
//     yield SECONDS   ->   ok SECONDS          1 to 3600, or 0 to take the counters back
//                     ->   error TEXT
//     lease SECONDS   ->   as yield, for a process that measures meanwhile: it asks again before the time is over, and
//                          0 ends its own lease. Counters stay yielded until all leases and what `yield` asked for are
//                          over; `yield 0` ends all.
//     mark TEXT       ->   ok                  a mark in the history (core/history/marks.h)
//                     ->   error TEXT
//     reload          ->   ok                  once the new configuration is in force
//                          warning TEXT        a line for each thing that it leaves to wish
//                     ->   error TEXT          a line for each mistake: nothing has changed
//     status          ->   ok                  and what follows it, a line for each
//                          listens ADDRESS PORT
//                          probed ADDRESS PORT           of /-/healthy and /-/ready alone; or a path, and 0
//                          awaits ADDRESS PORT WHY       it is tried again until it can be listened to
//                          ready REASON                  what /-/ready says, or
//                          not_ready REASON              (exporters/health/health.h), and for each part that does
//                          because TEXT                  not count, why
//                          certificate SECONDS           when that of the server expires, since the epoch
//                          trouble NAME<tab>TEXT<tab>REMEDY      what is wrong with the daemon itself

#include <systemd/sd-event.h>

#include "core/base/error.h"
#include "exporters/text/text.h"

// The socket's name in the runtime directory.
#define CONTROL_NAME "control.sock"

enum {
    CONTROL_YIELD_SECONDS_MAX = 3600,
    CONTROL_REQUEST_MAX = 128,
    CONTROL_ANSWER_MAX = (ERRORS_MAX + 1) * (ERROR_LINE_MAX + 8) // a line for each mistake
};

// Yields the counters for so long from now: they are free when it returns. 0 takes them back. Returns 0 or a negative
// errno.
typedef int control_yield(double seconds, void *context);

// Sets a mark with this text, which nobody has judged yet. Returns 0 or a negative errno, with the reason in *why where
// the text or the moment is at fault.
typedef int control_mark(const char *text, const char **why, void *context);

// Begins to reload the configuration. Returns 0 if it has begun: control_end_reload says how it ended. -EINVAL with the
// mistakes in `errors`, or another negative errno.
typedef int control_reload(struct errors *errors, void *context);

// Adds what the configuration in force leaves to wish, such as addresses that could not be listened to.
typedef void control_warn(struct errors *warnings, void *context);

// Appends the lines of `status` that follow "ok". Returns 0 or a negative errno.
typedef int control_status(struct text *out, void *context);

struct control_requests {
    control_yield *yield;
    control_reload *reload;
    control_warn *warn;
    control_status *status;
    control_mark *mark;
    void *context; // of all
};

struct control; // private

// Listens in `folder` (--path.run), else in $RUNTIME_DIRECTORY, else in RUN_FOLDER if it is writable. It replaces a
// dead daemon's socket. Returns 0; -EINVAL with the reason in `errors` if the folder was given and cannot be used, for
// instance because another daemon listens there; or another negative errno. *out is NULL if there is no folder, or none
// for this daemon, which is logged. `loop` must outlive it.
int control_new(sd_event *loop, const char *folder, const struct control_requests *requests, struct errors *errors,
                struct control **out);
// Starts answering; until then requests wait in the kernel's queue. Returns 0 or a negative errno.
int control_start(struct control *control);

// Serves a client on a connected socket that does not block, and takes it over.
void control_take_client(struct control *control, int fd);

// Answers those who wait for a reload: the configuration is in force (r is 0), or not, and why. Where it leaves
// something to wish they wait half a second longer, because an address that moves is tried again a moment later.
void control_end_reload(struct control *control, int r, const struct errors *errors);

struct control *control_free(struct control *control); // removes the socket

#endif
