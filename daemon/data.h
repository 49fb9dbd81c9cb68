// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_DATA_H
#define TOPDOWND_DAEMON_DATA_H

// The files that ship with the program: specs/ and scenarios/.

#include <stddef.h>

#include "core/catalog.h"
#include "core/error.h"

enum { DATA_PATH_MAX = 4096, DATA_SPECS_MAX = 256 };

// Finds the data folder: `given` where not NULL, else share/topdownd beside the folder that the program is in (an
// installation), else two folders above it (a build in the source tree). Returns 0, or -EINVAL with the remedy in
// `errors`.
int data_find(const char *given, char *out, size_t size, struct errors *errors);

// All specs of the data folder, in order of their names.
struct specs {
    struct catalog *catalogs[DATA_SPECS_MAX];
    size_t n;
};
int data_load_specs(const char *data, struct specs *out, struct errors *errors);
void specs_deinit(struct specs *specs);

// The spec of this name, NULL where there is none.
const struct catalog *specs_find(const struct specs *specs, const char *name);

#endif
