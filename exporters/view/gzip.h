// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_GZIP_H
#define TOPDOWND_EXPORTERS_VIEW_GZIP_H

#include "exporters/view/text.h"

// Appends the text as gzip (RFC 1952). Returns 0 or -ENOMEM.
int gzip_text(const struct text *text, struct text *out);

#endif
