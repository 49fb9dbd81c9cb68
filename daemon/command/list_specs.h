// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_SPECS_H
#define TOPDOWND_DAEMON_COMMAND_LIST_SPECS_H

// The specs of the data folder, each loaded only when it is asked for: a broken one costs what is in it.

#include "config/spec/cpu_map_json.h"
#include "core/spec/catalog.h"
#include "daemon/source/data.h"

enum { LIST_SPEC_NAME_MAX = 128 };

struct list_specs {
    char folder[DATA_PATH_MAX + 8];
    struct cpu_map cpus;
    struct list_spec {
        char name[LIST_SPEC_NAME_MAX];
        struct catalog *catalog; // NULL: not loaded
    } specs[DATA_SPECS_MAX];
    size_t n;
};

// Returns 0, -EINVAL with what is wrong in `errors`, -ENOMEM. A file cpus.json that is wrong is an error, too.
int list_specs_init(struct list_specs *list, const char *data, struct errors *errors);
void list_specs_deinit(struct list_specs *list);

// Loads a spec where it is not loaded yet. Returns 0, -EINVAL with what is wrong in `errors`, -ENOMEM.
int list_specs_load(struct list_specs *list, size_t spec, struct errors *errors);

// Finds the specs that are called so, by the first way that finds any: the spec's name, what its CPUs are known as, the
// vendor, the product's name with or without the vendor's. Case, spaces, '_' and '-' do not count. Sets found[i] of
// each spec (an array of DATA_SPECS_MAX) and returns how many they are.
size_t list_specs_find(struct list_specs *list, const char *name, bool *found);

#endif
