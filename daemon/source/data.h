// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_DATA_H
#define TOPDOWND_DAEMON_SOURCE_DATA_H

// The files that ship with the program: specs/ and scenarios/.

#include <stddef.h>

#include "core/base/error.h"
#include "core/host/identify.h"
#include "core/spec/catalog_builder.h"

enum { DATA_PATH_MAX = 4096, DATA_SPECS_MAX = 256 };

// Finds the data folder: `given` where not NULL, else share/topdownd beside the folder that the program is in (an
// installation), else two folders above it (a build in the source tree). Returns 0, or -EINVAL with the remedy in
// `errors`.
int data_find(const char *given, char *out, size_t size, struct errors *errors);

// The specs of the data folder, in order of their names, and which is for which CPU. Only what is asked for is read.
struct specs {
    char folder[DATA_PATH_MAX + 8];
    char *names[DATA_SPECS_MAX];
    struct catalog *kept[DATA_SPECS_MAX]; // those that specs_get has read
    size_t n;
    struct cpu_map cpus;
};
int data_open_specs(const char *data, struct specs *out, struct errors *errors);
void specs_deinit(struct specs *specs);

bool specs_has(const struct specs *specs, const char *name);

// Reads the spec of this name, its formulas compiled for `environment` (NULL: for no host in particular). The catalog
// is the caller's. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int specs_load(const struct specs *specs, const char *name, const struct environment *environment,
               struct errors *errors, struct catalog **out);

// The same, to be bound to a host before it is finished.
int specs_read(const struct specs *specs, const char *name, const struct environment *environment,
               struct errors *errors, struct catalog_builder **out);

// Spec `i`, for looking something up; kept until specs_forget. NULL where it cannot be read: this host does not need
// it, so that its mistakes cost nothing here.
const struct catalog *specs_get(struct specs *specs, size_t i);
void specs_forget(struct specs *specs);

#endif
