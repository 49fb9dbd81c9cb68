// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_RECORDING_RECORDING_SHORT_H
#define TOPDOWND_COLLECTORS_RECORDING_RECORDING_SHORT_H

// Short recordings: a daemon that ends within a minute of its start leaves one each time. In a crash loop they would
// use up the numbers and the space of the recordings that tell what led to the first crash.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORDING_SHORT_SECONDS = 60, RECORDING_SHORT_MAX = 16 };
// All short recordings together take at most one part in so many of the space.
enum { RECORDING_SHORT_SHARE = 8 };

// Whether the file is a whole recording that ended within RECORDING_SHORT_SECONDS of its beginning. The last part of a
// longer recording is none, and neither is a file that cannot be read or whose times make no sense.
bool recording_short(const char *path);

// Which of n files (0 is the newest; bytes of each, -1: no such file) is to be removed so that the short ones keep to
// their number and their share of bytes_max: the oldest of the short ones, or n.
size_t recording_short_excess(const int64_t *bytes, const bool *is_short, size_t n, uint64_t bytes_max);

#endif
