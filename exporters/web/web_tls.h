// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_WEB_WEB_TLS_H
#define TOPDOWND_EXPORTERS_WEB_WEB_TLS_H

// TLS of a server: its certificate, whom it trusts, and the versions that it speaks. Immutable once made, so that each
// connection goes on with what it began with.

#include <stdbool.h>

#include "core/base/error.h"
#include "core/host/web_settings.h"

struct web_tls; // private

// Reads the files that the settings name. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int web_tls_new(const struct web_settings *settings, struct errors *errors, struct web_tls **out);

// When the server's own certificate, the first of its chain, expires: seconds since the epoch; NaN: it does not say so.
double web_tls_expiry_seconds(const struct web_tls *tls);

struct web_tls *web_tls_free(struct web_tls *tls); // no session may use it any more

// Makes a new session of the TLS library (gnutls_session_t), before its handshake, use this. Returns 0 or -EIO.
int web_tls_begin(const struct web_tls *tls, void *session);

// Whether its handshake has ended well. Costs nothing to ask before; allocates for a moment once it has.
bool web_tls_established(const void *session);

// What a server's library may ask for a certificate (gnutls_certificate_retrieve_function2): there is none, as each
// session has its own.
void *web_tls_no_certificate(void);

#endif
