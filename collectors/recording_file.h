// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_RECORDING_FILE_H
#define TOPDOWND_COLLECTORS_RECORDING_FILE_H

// The two files of a recording: FILE, which is written, and FILE.1, which was before it.
//
// A file is only ever written by us alone: it is made new, never opened, and no symbolic link is followed. What cannot
// be written in full is taken back, so that a file always ends with a full record.

#include <stddef.h>
#include <stdint.h>

struct recording_file;

// Makes FILE. One that is there already becomes FILE.1, where it is a recording: -EEXIST where it is something else,
// -ELOOP where it is a symbolic link. Returns 0, another negative errno, -ENAMETOOLONG.
int recording_file_new(const char *path, struct recording_file **out);
struct recording_file *recording_file_free(struct recording_file *file);

// Writes whole records. 0; or a negative errno: nothing of them is in the file.
int recording_file_write(struct recording_file *file, const uint8_t *bytes, size_t n);
uint64_t recording_file_bytes(const struct recording_file *file); // written so far

// FILE becomes FILE.1, and a new one is begun. A negative errno: FILE is written on.
int recording_file_rotate(struct recording_file *file);

// Reads a file of at most size_max bytes. Returns 0 and a buffer for free(), which has a 0 behind the last byte;
// -EFBIG, -EINVAL where it is not a regular file, another negative errno.
int recording_file_read(const char *path, size_t size_max, uint8_t **bytes, size_t *n);

#endif
