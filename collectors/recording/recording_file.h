// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_RECORDING_RECORDING_FILE_H
#define TOPDOWND_COLLECTORS_RECORDING_RECORDING_FILE_H

// The files of a recording: FILE, which is written, and those before it, FILE.1, FILE.2 and so on, the older the higher
// the number. When a file is begun the others move up by one, as far as the first number that is free. All together
// have a size, which removes the oldest: so neither a restart nor ten of them take away what led to the first.
//
// A file is only ever written by us alone: it is made new, never opened, and no symbolic link is followed. What cannot
// be written in full is taken back, so that a file always ends with a full record.

#include <stddef.h>
#include <stdint.h>

enum { RECORDING_FILE_FORMERS_MAX = 99 };

struct recording_file;

// Makes FILE, for at most so many bytes in all files. One that is there already becomes FILE.1. -EEXIST where a file of
// these names is no recording, -ELOOP where it is a symbolic link. Returns 0, another negative errno, -ENAMETOOLONG.
int recording_file_new(const char *path, uint64_t bytes_max, struct recording_file **out);
// What recording_file_new would return, as far as can be known without making anything.
int recording_file_check(const char *path);
struct recording_file *recording_file_free(struct recording_file *file);

// Writes whole records, for which the oldest files make room. 0; or a negative errno: nothing of them is in the file.
int recording_file_write(struct recording_file *file, const uint8_t *bytes, size_t n);
uint64_t recording_file_bytes(const struct recording_file *file); // written so far

// FILE becomes FILE.1, that FILE.2 and so on, and a new one is begun. A negative errno: FILE is written on.
// Also where somebody has removed FILE.
int recording_file_rotate(struct recording_file *file);

// Reads a file of at most size_max bytes. Returns 0 and a buffer for free(), which has a 0 behind the last byte;
// -EFBIG, -EINVAL where it is not a regular file, another negative errno.
int recording_file_read(const char *path, size_t size_max, uint8_t **bytes, size_t *n);

#endif
