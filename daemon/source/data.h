// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_DATA_H
#define TOPDOWND_DAEMON_SOURCE_DATA_H

// The files that ship with the program: specs/ and scenarios/.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/host/identify.h"
#include "core/spec/catalog_builder.h"

#define SPEC_SOFTWARE "software" // the spec of the kernel's software events, and the kernel's PMU for them

enum { DATA_PATH_MAX = 4096, DATA_SPECS_MAX = 256, DATA_SCENARIOS_MAX = 64 };

// Finds the data folder: `given` if not NULL, else share/topdownd beside the program's folder (an installation), else
// two folders above it (a build in the source tree). Returns 0, or -EINVAL with the remedy in `errors`.
int data_find(const char *given, char *out, size_t size, struct errors *errors);

// The specs of the data folder, in order of their names, and the map from CPUs to specs. Specs are read on demand.
struct specs {
    char folder[DATA_PATH_MAX + 8];
    char *names[DATA_SPECS_MAX];
    struct catalog *kept[DATA_SPECS_MAX]; // read by specs_get
    size_t n;
    struct cpu_map cpus;
};
int data_open_specs(const char *data, struct specs *out, struct errors *errors);
void specs_deinit(struct specs *specs);

// The names of the scenarios that ship, in order; the caller frees each. Returns how many, or -EINVAL with the reason
// in `errors`, or -ENOMEM.
int data_list_scenarios(const char *data, struct errors *errors, char *names[DATA_SCENARIOS_MAX]);

// The path of a scenario's file. A name without folder and ending is of a scenario that ships. Returns 0, -EINVAL with
// all such names in `errors` if it is none of them, or -ENOMEM.
int data_find_scenario(const char *data, const char *name, struct errors *errors, char *out, size_t size);

bool specs_has(const struct specs *specs, const char *name);

// Reads the spec of this name, with its formulas compiled for `environment` (NULL: for no particular host). The caller
// owns the catalog. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int specs_load(const struct specs *specs, const char *name, const struct environment *environment,
               struct errors *errors, struct catalog **out);

// The same, to be bound to a host before it is finished.
int specs_read(const struct specs *specs, const char *name, const struct environment *environment,
               struct errors *errors, struct catalog_builder **out);

// Adds the kernel's software events, which every Linux host has, to a catalog of a core PMU. Returns 0, -EINVAL,
// -ENOMEM.
int specs_add_software(const struct specs *specs, struct errors *errors, struct catalog_builder *builder);

// Makes of a spec's catalog the one that a recording was made with, whose hash is given: with the software events,
// which earlier versions left out, and with the marks of what may be zero, which specs of earlier versions had and
// which are part of the hash. Without that hash the spec has changed; `marked`: it had such marks. Returns 0, -EINVAL,
// -ENOMEM.
int specs_make_recorded(const struct specs *specs, uint64_t hash, bool marked, struct errors *errors,
                        struct catalog_builder *builder);

// Spec `i`, for lookups; kept until specs_forget. NULL if it cannot be read: this host does not need it, so its
// mistakes do not matter.
const struct catalog *specs_get(struct specs *specs, size_t i);
void specs_forget(struct specs *specs);

#endif
