// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_WEB_WEB_SUITES_H
#define TOPDOWND_EXPORTERS_WEB_WEB_SUITES_H

// Cipher suites that a web configuration names, for a TLS library that is told of their parts.
//
// GnuTLS takes ciphers, key exchanges and message authentication codes, and offers all suites that they make. So it
// may offer more than was named, which is refused. TLS 1.3 uses each cipher that it knows, as its suites have no
// parts; exporter-toolkit does not choose them either.

#include "core/host/web_settings.h"
#include "exporters/web/web_tls.h"

enum { WEB_SUITES_TEXT_MAX = 640 };

// Appends the parts of the named suites to a priority string of the library with WEB_SUITES_TEXT_MAX bytes left;
// nothing where none is named.
void web_suites_append(const struct web_tls_settings *settings, char *text);

// The library's name of a suite for TLS 1.2 and before that it would offer without being named; NULL: there is none.
// `priority`: a gnutls_priority_t.
const char *web_suites_unnamed(const struct web_tls_settings *settings, void *priority);

#endif
