// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_RECORDING_RECORDING_FILE_H
#define TOPDOWND_COLLECTORS_RECORDING_RECORDING_FILE_H

// The files of a recording: FILE, the one being written, and its predecessors FILE.1, FILE.2 and so on; higher numbers
// are older. A new file moves the others up by one, as far as the first free number. One size limit covers all files,
// and the oldest are removed to keep it. Short recordings, as a crash loop leaves them, have a number and a size of
// their own (recording_short.h): however many restarts do not remove what led to the first.
//
// Only topdownd writes a file: it always creates it, never opens an existing one, and follows no symbolic link. A
// partial write is undone, so that a file always ends with a full record. A daemon holds a lock (flock) on the FILE
// that it writes, so that two daemons never write to one recording. A part that another daemon writes as its own FILE
// is neither moved nor removed.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORDING_FILE_FORMERS_MAX = 99 };

struct recording_file;

// Creates FILE, with at most bytes_max in all files together. An existing FILE becomes FILE.1. Returns 0, -EEXIST if a
// file of these names is not a recording, -EISDIR if it is a folder, -EBUSY if another daemon writes FILE, -ETXTBSY if
// it writes one of FILE.1 and so on, -ELOOP if it is a symbolic link, -EINVAL if it ends in a slash, -EOPNOTSUPP
// in a file system of the kernel's own (/proc, /sys), -ENAMETOOLONG or another negative errno.
int recording_file_new(const char *path, uint64_t bytes_max, struct recording_file **out);
// Sets another limit, which holds from the next file or piece on.
void recording_file_limit(struct recording_file *file, uint64_t bytes_max);
// Predicts what recording_file_new would return, without creating anything and without looking at locks.
int recording_file_check(const char *path);
struct recording_file *recording_file_free(struct recording_file *file);

// Writes whole records and removes the oldest files to make room. Returns 0, or a negative errno if it wrote nothing.
int recording_file_write(struct recording_file *file, const uint8_t *bytes, size_t n);
uint64_t recording_file_bytes(const struct recording_file *file); // written so far

// True if someone has removed FILE: what is written goes nowhere.
bool recording_file_removed(const struct recording_file *file);

// Renames FILE to FILE.1, FILE.1 to FILE.2 and so on, and begins a new FILE, also if someone has removed it. On a
// negative errno, such as -ETXTBSY, the old FILE stays in use.
int recording_file_rotate(struct recording_file *file);

// Reads a file of at most size_max bytes. Returns 0 and a buffer for free() with a 0 after the last byte; -EFBIG,
// -EINVAL if it is not a regular file, or another negative errno.
int recording_file_read(const char *path, size_t size_max, uint8_t **bytes, size_t *n);

#endif
