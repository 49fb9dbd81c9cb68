// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_LISTENING_H
#define TOPDOWND_DAEMON_RUN_LISTENING_H

// The addresses of `listen`, or the sockets that systemd passes, and that of `probe`. An address that cannot be used
// now, because another process has the port or because the host does not have the address yet, is tried again until it
// can be used. Measuring goes on meanwhile.

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "config/yaml/config.h"
#include "core/base/error.h"
#include "daemon/run/inherited.h"
#include "daemon/run/protection.h"
#include "exporters/http/http.h"
#include "exporters/text/text.h"
#include "exporters/web/web.h"

struct listening; // private

// What a daemon serves on, and how.
struct listening_request {
    const struct config *config;       // its addresses,
    const struct inherited *inherited; // or these sockets if there are any
    struct web *web;                   // who may read what is served; NULL: everybody
};

// Makes the server and tries all addresses, or takes the sockets over; logs those that have to wait. Returns 0; -EINVAL
// with the reason in `errors` where somebody must change something; -ENOMEM or another negative errno. `loop` must
// outlive it.
int listening_new(sd_event *loop, const struct listening_request *request, struct errors *errors,
                  struct listening **out);

// Listens to the addresses of another configuration (sockets of systemd stay as they are): first to those that are new,
// then no longer to those that are not named any more. An address that both have goes on undisturbed. Returns as
// listening_new; after a failure nothing has changed. A new address of probes that cannot be had is awaited.
int listening_change(struct listening *listening, const struct config *config, struct errors *errors);

struct http_server *listening_server(const struct listening *listening);

// Whether somebody has read the intervals of single CPUs since the last call; of a struct listening.
bool listening_cpus_read(void *listening);

// The server is answering: logs where to look, from now on also for each address that follows.
void listening_announce(struct listening *listening);

// Appends which addresses are awaited, for systemd's status: "; waiting for 192.0.2.1:10813". Cut at size - 1.
void listening_describe(const struct listening *listening, char *text, size_t size);

// Adds the addresses that it waits for, and that there is no other.
void listening_warn_of_awaited(const struct listening *listening, struct errors *warnings);

// Appends the lines of the control socket's `status` (daemon/run/control.h): addresses, and what protects them.
void listening_tell(const struct listening *listening, const struct protection *protection, struct text *out);

// Warns if others than this host can reach an address, and need neither TLS nor a password (`web`; NULL: none), or a
// password without TLS.
void listening_warn(const struct listening *listening, const struct web *web);

// Ends the server.
struct listening *listening_free(struct listening *listening);

#endif
