// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_YAML_FILE_H
#define TOPDOWND_CONFIG_YAML_YAML_FILE_H

// Reads a file of a configuration into memory.

#include "core/base/error.h"

// Reads a file that has an end and at most YAML_TREE_BYTES_MAX bytes; *out is for free(). Returns 0 or a negative
// errno.
int yaml_file_read(const char *path, char **out, size_t *length);

// Adds the reason why it, or a folder, could not be read. `error` is a negative errno.
void yaml_file_report(struct errors *errors, const char *path, int error);

#endif
