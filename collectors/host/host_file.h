// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_FILE_H
#define TOPDOWND_COLLECTORS_HOST_HOST_FILE_H

// The kernel's small files.

#include <stddef.h>
#include <sys/types.h>

// Reads the start of a file into `text` and terminates it. Returns its length or a negative errno.
ssize_t host_file_read(const char *path, char *text, size_t size);

// Reads a file that holds one whole number; returns `otherwise` if the file is unreadable or holds anything else.
long long host_file_number(const char *path, long long otherwise);

#endif
