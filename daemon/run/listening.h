// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_LISTENING_H
#define TOPDOWND_DAEMON_RUN_LISTENING_H

// The addresses of `listen`, or the sockets that systemd passes. An address that cannot be used now, because another
// process has the port or because the host does not have the address yet, is tried again until it can be used.
// Measuring goes on meanwhile.

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "config/yaml/config.h"
#include "core/base/error.h"
#include "daemon/run/inherited.h"
#include "exporters/http/http.h"

struct listening; // private

// Makes the server and tries all addresses, or takes the sockets over if there are any; logs those that have to wait.
// Returns 0; -EINVAL with the reason in
// `errors` where somebody must change something; -ENOMEM or another negative errno. `loop` must outlive it.
int listening_new(sd_event *loop, const struct config *config, const struct inherited *inherited, struct errors *errors,
                  struct listening **out);

// Listens to the addresses of another configuration (sockets of systemd stay as they are): first to those that are new,
// then no longer to those that are not named any more. An address that both have goes on undisturbed. Returns as
// listening_new; after a failure nothing has changed.
int listening_change(struct listening *listening, const struct config *config, struct errors *errors);

struct http_server *listening_server(const struct listening *listening);

// The server is answering: logs where to look, from now on also for each address that follows.
void listening_announce(struct listening *listening);

// Appends which addresses are awaited, for systemd's status: "; waiting for 192.0.2.1:10813". Cut at size - 1.
void listening_describe(const struct listening *listening, char *text, size_t size);

// Ends the server.
struct listening *listening_free(struct listening *listening);

#endif
