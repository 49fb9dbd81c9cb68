// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *suggest_from(const struct catalog *catalog, const char *name) {
    const char **names = calloc(catalog->n_groups + 1, sizeof *names);
    if (!names)
        return NULL;
    for (size_t g = 0; g < catalog->n_groups; g++)
        names[g] = catalog->groups[g].name;
    const char *best = error_suggest(name, names, catalog->n_groups);
    free(names);
    return best;
}

static const char *suggest_group(const struct selection_specs *specs, const char *name) {
    const char *best = NULL;
    for (size_t i = 0; i < specs->n && !best; i++)
        best = suggest_from(specs->catalogs[i], name);
    for (size_t i = 0; i < specs->others->n && !best; i++) {
        const struct catalog *catalog = specs_get(specs->others, i);
        best = catalog ? suggest_from(catalog, name) : NULL;
    }
    return best;
}

static bool in_some_spec(const struct selection_specs *specs, const char *name) {
    for (size_t i = 0; i < specs->n; i++)
        if (catalog_find_group(specs->catalogs[i], name) >= 0)
            return true;
    for (size_t i = 0; i < specs->others->n; i++) {
        const struct catalog *catalog = specs_get(specs->others, i);
        if (catalog && catalog_find_group(catalog, name) >= 0)
            return true;
    }
    return false;
}

int selection_check(const struct config *config, const void *context, struct errors *errors) {
    const struct selection_specs *specs = context;
    int r = 0;
    if (config->specs.path && !specs->vendors)
        return 0;
    for (size_t p = 0; p < config->n_profiles; p++) {
        for (size_t g = 0; g < config->profiles[p].n_groups; g++) {
            const struct config_group *group = &config->profiles[p].groups[g];
            if (in_some_spec(specs, group->name))
                continue;
            const char *suggestion = suggest_group(specs, group->name);
            r = errors_add(errors, group->origin.file, group->origin.line, group->origin.column,
                           "no spec has a metric group '%s'%s%s%s", group->name, suggestion ? ": did you mean '" : "",
                           suggestion ? suggestion : "", suggestion ? "'?" : "");
        }
    }
    return r;
}

static void name_missing(char *missing, size_t size, const char *name) {
    size_t length = strlen(missing);
    (void)snprintf(missing + length, size - length, "%s%s", length > 0 ? ", " : "", name);
}

int selection_make(const struct config_profile *profile, const struct catalog *catalog, bool vendors,
                   struct plan_selection **out, char *missing, size_t size) {
    struct plan_selection *selections = calloc(profile->n_groups + 1, sizeof *selections);
    if (!selections)
        return -ENOMEM;
    int n = 0;
    missing[0] = '\0';
    for (size_t g = 0; g < profile->n_groups; g++) {
        int group = catalog_find_group(catalog, profile->groups[g].name);
        if (group >= 0)
            selections[n++] = (struct plan_selection){.group = (unsigned)group, .weight = profile->groups[g].weight};
        else
            name_missing(missing, size, profile->groups[g].name);
    }
    int first_stage = catalog_find_group(catalog, "stage_1");
    if (n == 0 && profile->n_groups > 0 && (catalog->general_counters == 0 || vendors) && first_stage >= 0)
        selections[n++] = (struct plan_selection){.group = (unsigned)first_stage};
    *out = selections;
    return n;
}
