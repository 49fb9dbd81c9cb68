// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_PROTECTION_H
#define TOPDOWND_DAEMON_RUN_PROTECTION_H

// The web configuration file (--web.config.file): TLS, passwords and headers of the server.
//
// It is read at the start, at each reload, and when it or a file that it names has changed: topdownd looks every
// PROTECTION_LOOK_US, and reads what has not changed for as long, because a certificate and its key are mostly replaced
// one after the other. What is wrong changes nothing, and is tried again. Reading takes about a millisecond of this
// thread, and handshakes and passwords none.

#include <systemd/sd-event.h>

#include "core/base/error.h"
#include "daemon/base/options.h"
#include "exporters/http/http.h"
#include "exporters/text/text.h"
#include "exporters/web/web.h"

enum { PROTECTION_LOOK_US = 2000000 };

struct protection; // private

// Reads the file that the options name; *out is NULL if they name none. Returns 0, -EINVAL with the mistakes in
// `errors`, -ENOMEM.
int protection_load(const struct options *options, struct errors *errors, struct web **out);

// Puts it in force at the server. Returns 0, -EINVAL with the reason in `errors`, or another negative errno.
int protection_apply(struct http_server *server, struct web *web, struct errors *errors);

// Writes that everybody who reaches the address may read what is served. False if only this host reaches it, or TLS or
// a password is needed.
bool protection_describe(const struct web *web, const struct http_address *address, char *out, size_t size);
extern const char protection_remedy[];

// Writes that passwords for the address cross a network without TLS. False if they do not, or if there are none.
bool protection_describe_passwords(const struct web *web, const struct http_address *address, char *out, size_t size);
extern const char protection_passwords_remedy[];

// When the server's certificate expires, in seconds since the epoch; NaN: there is none (no TLS, no web configuration).
double protection_expiry_seconds(const struct web *web);

// Writes that the server's certificate has expired at that time, or will soon. False if it is good for longer.
enum { PROTECTION_EXPIRES_SOON_DAYS = 14 };
bool protection_describe_expiry(const struct web *web, double now_seconds, char *out, size_t size);
// The same for a certificate in this file that expires at `end_seconds`.
bool protection_describe_end(const char *path, double end_seconds, double now_seconds, char *out, size_t size);
extern const char protection_expiry_remedy[];

// What the caller does besides: it is told how each reading of changed files has ended.
struct protection_caller {
    void (*begin)(void *context); // before it
    void (*end)(bool in_force, void *context);
    void *context;
    double *expiry_seconds; // set to that of what is in force, whenever it changes
};

// Watches the files of `web`, which is in force at the server, and warns of a certificate that expires. Returns 0 or a
// negative errno. `loop`, `options` and the server must outlive it.
int protection_new(sd_event *loop, const struct options *options, struct http_server *server, struct web *web,
                   const struct protection_caller *caller, struct protection **out);

// Whether what protection_load has read (NULL: there is none) may follow what is in force. Returns 0, or -EINVAL with
// the reason in `errors`.
int protection_compare(const struct protection *protection, const struct web *web, struct errors *errors);

// Puts it in force. Returns as protection_apply; after a failure nothing has changed.
int protection_change(struct protection *protection, struct web *web, struct errors *errors);

struct web *protection_web(const struct protection *protection); // borrowed; in force; NULL: none

struct protection *protection_free(struct protection *protection); // takes NULL

// Appends to the control socket's answer to `status` what is in force and what is wrong with it (daemon/run/control.h):
// no file and no mistake, as these may be of a secret, and bundles have the answer.
void protection_tell(const struct protection *protection, struct text *out);

#endif
