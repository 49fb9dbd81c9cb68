// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_LOOPBACK_H
#define TOPDOWND_DAEMON_BASE_LOOPBACK_H

// Asks a server of this host for a page, over plain HTTP.

#include <stdint.h>

#include "exporters/text/text.h"

enum { LOOPBACK_BYTES_MAX = 64 << 20 };

// Gets the page at an address, which is numeric, or the path of a Unix socket (and port 0). One that stands for all is
// asked at 127.0.0.1 or ::1. Returns 0 with the page appended to `out`;
// -EPROTO if the answer is not a page (status 200); another negative errno.
int loopback_get(const char *address, uint16_t port, const char *path, struct text *out);

#endif
