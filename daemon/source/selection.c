// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/uncore_specs.h"
#include "core/base/name.h"

// A vendor's files recommend no groups: Defaults stands for those that topdownd gives them as far as it can.
static const char *const USUAL[] = {"stage_1", "General", "MPKI", "Miss_Ratio"};
enum { N_USUAL = sizeof USUAL / sizeof *USUAL };

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
    if (name_equal(name, CONFIG_DEFAULTS))
        return true;
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

static int refuse_group(const struct selection_specs *specs, const struct config_group *group, struct errors *errors) {
    const struct config_origin *at = &group->origin;
    if (uncore_specs_have_group(specs->others->folder, group->name))
        return errors_add(errors, at->file, at->line, at->column,
                          "metric group '%s' is of PMUs outside the cores, which count for sockets: name it in "
                          "uncore.groups of the configuration",
                          group->name);
    const char *suggestion = suggest_group(specs, group->name);
    return errors_add(errors, at->file, at->line, at->column, "no spec has a metric group '%s'%s%s%s", group->name,
                      suggestion ? ": did you mean '" : "", suggestion ? suggestion : "", suggestion ? "'?" : "");
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
            r = refuse_group(specs, group, errors);
        }
    }
    return r;
}

static void name_missing(char *missing, size_t size, const char *name) {
    size_t length = strlen(missing);
    (void)snprintf(missing + length, size - length, "%s%s", length > 0 ? ", " : "", name);
}

// The selections so far: each group of the catalog once.
struct selecting {
    const struct catalog *catalog;
    struct plan_selection *selections;
    int n;
    char *missing;
    size_t size;
};

static void select_group(struct selecting *to, unsigned group, unsigned weight) {
    int i = 0;
    while (i < to->n && to->selections[i].group != group)
        i++;
    if (i == to->n)
        to->selections[to->n++] = (struct plan_selection){.group = group};
    if (weight > to->selections[i].weight)
        to->selections[i].weight = weight;
}

static void select_name(struct selecting *to, const char *name, unsigned weight) {
    int group = catalog_find_group(to->catalog, name);
    if (group >= 0)
        select_group(to, (unsigned)group, weight);
    else
        name_missing(to->missing, to->size, name);
}

static void select_defaults(struct selecting *to, unsigned weight) {
    unsigned n = 0;
    for (int group; (group = catalog_default_group(to->catalog, n + 1)) >= 0; n++)
        select_group(to, (unsigned)group, weight);
    for (size_t i = 0; i < N_USUAL && n == 0; i++)
        select_name(to, USUAL[i], weight);
}

static void weigh_selected(struct selecting *to, const char *name, unsigned weight) {
    int group = catalog_find_group(to->catalog, name);
    for (int i = 0; i < to->n; i++)
        if ((int)to->selections[i].group == group && weight > to->selections[i].weight)
            to->selections[i].weight = weight;
}

int selection_make(const struct config_profile *profile, const struct catalog *catalog, bool vendors,
                   struct plan_selection **out, char *missing, size_t size) {
    struct selecting to = {.catalog = catalog,
                           .selections = calloc(catalog->n_groups + 1, sizeof *to.selections),
                           .missing = missing,
                           .size = size};
    if (!to.selections)
        return -ENOMEM;
    missing[0] = '\0';
    for (size_t g = 0; g < profile->n_groups; g++) {
        const struct config_group *group = &profile->groups[g];
        if (group->weight_only)
            continue;
        if (name_equal(group->name, CONFIG_DEFAULTS))
            select_defaults(&to, group->weight);
        else
            select_name(&to, group->name, group->weight);
    }
    for (size_t g = 0; g < profile->n_groups; g++)
        if (profile->groups[g].weight_only)
            weigh_selected(&to, profile->groups[g].name, profile->groups[g].weight);
    int first_stage = catalog_find_group(catalog, "stage_1");
    if (to.n == 0 && profile->n_groups > 0 && (catalog->general_counters == 0 || vendors) && first_stage >= 0)
        select_group(&to, (unsigned)first_stage, 0);
    *out = to.selections;
    return to.n;
}
