// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_KEPT_KEPT_FILE_H
#define TOPDOWND_DAEMON_KEPT_KEPT_FILE_H

// A file of what outlives the process. A thread of its own writes it, so that a disk that is slow or hangs delays no
// measurement. Each time the whole file is written beside the old one, put on the disk, and renamed into its place, so
// that a crash or a power failure leaves one of the two.

#include <stddef.h>
#include <stdint.h>

#include "core/recording/recording.h"

struct kept_file;

// Begins to write to `name` in `folder`. Returns 0 or a negative errno. A folder that cannot be written to is no error:
// it is tried again every time, and logged once.
int kept_file_new(const char *folder, const char *name, struct kept_file **out);

const char *kept_file_path(const struct kept_file *file);

// Reads the present file, of at most `max` bytes, for free(). Returns 0, or a negative errno: -ENOENT if there is none,
// -EFBIG if it is larger, -EINVAL if it is no regular file.
int kept_file_read(const struct kept_file *file, size_t max, uint8_t **bytes, size_t *n);

// Takes the bytes over, and leaves the buffer empty: they are written soon, instead of those that wait.
void kept_file_put(struct kept_file *file, struct recording_buffer *bytes);

// Waits until what waits is written, but not longer than KEPT_WAIT_SECONDS: what the disk does not take by then is
// given up. Takes NULL.
enum { KEPT_WAIT_SECONDS = 2 };
struct kept_file *kept_file_free(struct kept_file *file);

#endif
