// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_TEXT_GZIP_H
#define TOPDOWND_EXPORTERS_TEXT_GZIP_H

#include "exporters/text/text.h"

// Appends the text as gzip (RFC 1952). Returns 0 or -ENOMEM.
int gzip_text(const struct text *text, struct text *out);

#endif
