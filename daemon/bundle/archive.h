// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BUNDLE_ARCHIVE_H
#define TOPDOWND_DAEMON_BUNDLE_ARCHIVE_H

// An archive of files as tar reads it (POSIX.1-2001, ustar), in memory.

#include <time.h>

#include "exporters/text/text.h"

// Appends a file of mode 0600; its name has at most 99 bytes and no folder above it.
void archive_add(struct text *archive, const char *name, const void *data, size_t length, time_t modified);
void archive_end(struct text *archive);

#endif
