// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_WEB_WEB_H
#define TOPDOWND_EXPORTERS_WEB_WEB_H

// A web configuration in force: settings and what was made of them. Immutable; several threads and connections hold
// references.

#include <stdatomic.h>

#include "exporters/web/web_tls.h"

struct web {
    atomic_uint references;
    struct web_settings *settings;
    struct web_tls *tls; // NULL: plain HTTP
};

// Reads the files that the settings name, and takes the settings over, even on failure. Returns 0, -EINVAL with the
// mistakes in `errors`, -ENOMEM.
int web_new(struct web_settings *settings, struct errors *errors, struct web **out);

struct web *web_ref(struct web *web); // takes NULL, as the other one does
void web_unref(struct web *web);

// What a client says of itself.
struct web_credentials {
    char name[WEB_USER_BYTES_MAX + 1];
    char password[WEB_PASSWORD_BYTES_MAX + 1];
};

// Reads the value of an Authorization header. False if it is no basic one, or longer than any that could be right.
bool web_credentials_read(const char *header, struct web_credentials *out);

// The user's entry; NULL: there is none.
const struct web_user *web_find_user(const struct web *web, const char *name);

// A hash that no password has, and that takes as long to compute as any user's: for names that nobody has.
void web_nobodys_hash(const struct web *web, char out[WEB_HASH_BYTES + 1]);

#endif
