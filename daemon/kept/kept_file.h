// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_KEPT_KEPT_FILE_H
#define TOPDOWND_DAEMON_KEPT_KEPT_FILE_H

// A file of what outlives the process. A thread of its own reads and writes it, so that a disk that is slow or hangs delays no
// measurement. Each time the whole file is written beside the old one, put on the disk, and renamed into its place, so
// that a crash or a power failure leaves one of the two.

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "core/recording/recording.h"

struct kept_file;

// Begins to write to `name` in `folder`. Returns 0 or a negative errno. A folder that cannot be written to is no error:
// it is tried again every time, and logged once.
int kept_file_new(const char *folder, const char *name, struct kept_file **out);

const char *kept_file_path(const struct kept_file *file);

// Has the thread read the present file, of at most `max` bytes, for free(). Once, and before the first kept_file_put.
// Returns 0, or a negative errno: -ENOENT if there is none, -EFBIG if it is larger, -EINVAL if it is no regular file,
// -ETIMEDOUT if the disk does not answer within KEPT_WAIT_SECONDS: then the first write leaves the present file under
// the name NAME.unread.
int kept_file_read(struct kept_file *file, size_t max, uint8_t **bytes, size_t *n);

// Takes the bytes over, and leaves the buffer empty: they are written soon, instead of those that wait.
void kept_file_put(struct kept_file *file, struct recording_buffer *bytes);

// Begins the end: what waits is written, and then nothing.
void kept_file_end(struct kept_file *file);
// Waits for the end until a moment of CLOCK_MONOTONIC, mostly kept_file_patience() after the first kept_file_end: what
// the disk does not take by then is given up, and nothing more is said of it. Returns NULL, takes NULL.
enum { KEPT_WAIT_SECONDS = 2 };
struct timespec kept_file_patience(void);
struct kept_file *kept_file_free(struct kept_file *file, const struct timespec *until);

#endif
