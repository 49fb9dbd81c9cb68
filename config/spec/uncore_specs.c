// SPDX-License-Identifier: Apache-2.0
#include "config/spec/uncore_specs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "config/spec/uncore_kinds_json.h"

static int load_kinds(const char *specs, struct errors *errors, struct uncore_kinds *out) {
    char *path;
    if (asprintf(&path, "%s/uncore/kinds.json", specs) < 0)
        return -ENOMEM;
    int r = uncore_kinds_json_load(path, errors, out);
    free(path);
    return r;
}

static int show(const char *specs, const char *spec, uncore_specs_look *look, void *context, struct errors *errors) {
    struct catalog *catalog;
    char *path;
    if (asprintf(&path, "%s/uncore/%s.json", specs, spec) < 0)
        return -ENOMEM;
    int r = spec_json_load(path, NULL, errors, &catalog);
    free(path);
    if (r < 0)
        return r;
    look(catalog, context);
    catalog_free(catalog);
    return 0;
}

int uncore_specs_each(const char *specs, uncore_specs_look *look, void *context, struct errors *errors) {
    struct uncore_kinds kinds;
    int r = load_kinds(specs, errors, &kinds);
    if (r < 0)
        return r;
    for (size_t k = 0; k < kinds.n && r == 0; k++)
        if (k == 0 || strcmp(kinds.kinds[k].spec, kinds.kinds[k - 1].spec) != 0)
            r = show(specs, kinds.kinds[k].spec, look, context, errors);
    uncore_kinds_json_deinit(&kinds);
    return r;
}

struct sought {
    const char *name;
    bool found;
};

static void look_for_group(const struct catalog *catalog, void *context) {
    struct sought *sought = context;
    sought->found = sought->found || catalog_find_group(catalog, sought->name) >= 0;
}

bool uncore_specs_have_group(const char *specs, const char *name) {
    struct sought sought = {.name = name};
    struct errors ignored = {.n = 0};
    return uncore_specs_each(specs, look_for_group, &sought, &ignored) == 0 && sought.found;
}
