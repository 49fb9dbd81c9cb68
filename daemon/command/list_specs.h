// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_SPECS_H
#define TOPDOWND_DAEMON_COMMAND_LIST_SPECS_H

// The specs of the data folder, each loaded on demand: an invalid one disables only itself.

#include "config/spec/cpu_map_json.h"
#include "core/spec/catalog.h"
#include "daemon/source/data.h"
#include "exporters/text/table.h"
#include "exporters/text/text.h"

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

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM. An invalid cpus.json is an error, too.
int list_specs_init(struct list_specs *list, const char *data, struct errors *errors);
void list_specs_deinit(struct list_specs *list);

// Loads a spec unless it is loaded. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int list_specs_load(struct list_specs *list, size_t spec, struct errors *errors);

// Finds the specs of this name. It tries, until one finds any: the spec's name, other names of its CPUs, the vendor,
// the product's name with or without the vendor's. Case, spaces, '_' and '-' are ignored. Sets found[i] of each spec
// (an array of DATA_SPECS_MAX) and returns their number.
size_t list_specs_find(struct list_specs *list, const char *name, bool *found);

// Adds the spec of a kind of PMUs outside the cores: the file of this name in the folder "uncore". False: there is
// none.
bool list_specs_add_boxes(struct list_specs *list, const char *name);

// Appends the specs of the kind of PMUs outside the cores that has this name, and those that begin with it, " a b c";
// or the one whose name is nearest to it. False: there is none.
bool list_specs_of_boxes(const struct list_specs *list, const char *name, struct text *out);

// The nearest of the specs' names and of the other names of their CPUs; NULL if none is near.
const char *list_specs_suggest(const struct list_specs *list, const char *name);

// Appends the spec of this name as a file of its own, with all entries of its family. Returns 0, -EINVAL with the
// mistakes in `errors`, -ENOMEM.
int list_specs_print(const struct list_specs *list, const char *name, struct errors *errors, struct text *out);

// The rows of `list cpus`: the specs of which found[i] is true. An invalid spec is logged, and the others are listed.
enum { LIST_CPU_COLUMNS = 9 };
extern const struct table_column list_cpu_columns[LIST_CPU_COLUMNS];
void list_cpus(struct list_specs *list, const bool *found, struct table *table);

#endif
