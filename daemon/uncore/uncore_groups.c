// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/uncore_specs.h"
#include "config/yaml/config_uncore.h"
#include "daemon/base/log.h"

// Each group once.
static int add(struct plan_selection *selections, int n, int group) {
    int i = 0;
    while (i < n && (int)selections[i].group != group)
        i++;
    if (i == n)
        selections[n++] = (struct plan_selection){.group = (unsigned)group};
    return n;
}

static bool measures(const struct core_type *type, const char *export_name) {
    const struct catalog *catalog = type->source->catalog;
    for (size_t s = 0; s < type->n_selections; s++) {
        const struct catalog_group *group = &catalog->groups[type->selections[s].group];
        for (size_t m = 0; m < group->n_metrics; m++)
            if (strcmp(catalog->metrics[group->metrics[m]].export_name, export_name) == 0)
                return true;
    }
    return false;
}

// True if a kind before measures one of the group's metrics.
static bool is_told(const struct setup *setup, const struct catalog *catalog, const struct catalog_group *group) {
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++)
        for (size_t m = 0; m < group->n_metrics; m++)
            if (measures(&setup->types[i], catalog->metrics[group->metrics[m]].export_name))
                return true;
    return false;
}

int uncore_groups_select(const struct setup *setup, const struct catalog *catalog, bool recommended,
                         struct plan_selection **out) {
    const struct config_uncore *config = &setup->config->uncore;
    struct plan_selection *selections = calloc(catalog->n_groups + 1, sizeof *selections);
    int n = 0;
    if (!selections)
        return -ENOMEM;
    for (int group; recommended && (group = catalog_default_group(catalog, (unsigned)n + 1)) >= 0;)
        n = add(selections, n, group);
    for (size_t i = 0; i < config->n_named; i++) {
        int group = catalog_find_group(catalog, config->named[i].name);
        if (group >= 0 && !is_told(setup, catalog, &catalog->groups[group]))
            n = add(selections, n, group);
    }
    *out = selections;
    return n;
}

// ---- names that nobody has ----

static bool has_group(const struct setup *setup, const char *name) {
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++)
        if (catalog_find_group(setup->types[i].source->catalog, name) >= 0)
            return true;
    return false;
}

// Names, and which of them some shipped spec has.
struct search {
    struct setup *setup;
    const struct config_group *named;
    size_t n;
    bool *known;
    const char **near; // of the unknown: what may be meant; owned
};

static void compare(const struct catalog *catalog, void *context) {
    struct search *search = context;
    for (size_t i = 0; i < search->n; i++) {
        search->known[i] = search->known[i] || catalog_find_group(catalog, search->named[i].name) >= 0;
        for (size_t g = 0; g < catalog->n_groups && !search->near[i]; g++) {
            const char *const one[] = {catalog->groups[g].name};
            if (error_suggest(search->named[i].name, one, 1))
                search->near[i] = strdup(one[0]);
        }
    }
}

// Reads one spec after the other: only a name that this host lacks costs that.
static int compare_shipped(struct search *search, struct errors *errors) {
    char specs[DATA_PATH_MAX + 8];
    (void)snprintf(specs, sizeof specs, "%s/specs", search->setup->data);
    return uncore_specs_each(specs, compare, search, errors);
}

// Of this host's cores, or of others'.
static bool is_of_cores(const struct search *search, const char *name) {
    for (size_t i = 0; i < search->setup->n_types; i++)
        if (catalog_find_group(search->setup->types[i].source->catalog, name) >= 0)
            return true;
    for (size_t i = 0; i < search->setup->specs.n; i++) {
        const struct catalog *catalog = specs_get(&search->setup->specs, i);
        if (catalog && catalog_find_group(catalog, name) >= 0)
            return true;
    }
    return false;
}

static int report_unknown(const struct search *search, const struct config_group *group, const char *near,
                          struct errors *errors) {
    const struct config_origin *at = &group->origin;
    if (is_of_cores(search, group->name))
        return errors_add(errors, at->file, at->line, at->column,
                          "metric group '%.80s' is of the cores: name it in the groups of a profile, under profiles of "
                          "the configuration",
                          group->name);
    return errors_add(errors, at->file, at->line, at->column,
                      "there is no group outside the cores named '%.80s'%s%.80s%s", group->name,
                      near ? ": did you mean '"
                           : ": write memory, remote, llc, interconnect, io, or the name of a metric "
                             "group that 'topdownd list pmus' shows",
                      near ? near : "", near ? "'?" : "");
}

static int report(const struct search *search, struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < search->n; i++) {
        const struct config_group *group = &search->named[i];
        const char *word = config_uncore_suggest(group->name), *near = word ? word : search->near[i];
        if (search->known[i])
            continue;
        if (search->setup->config->specs.path) { // it may be one of other hosts' files
            log_warning("%s:%u: uncore.groups: group '%s' is not measured: neither our specs nor the files of `specs` "
                        "have it for a PMU of this host, or another kind measures its metrics already",
                        group->origin.file, group->origin.line, group->name);
            continue;
        }
        r = report_unknown(search, group, near, errors);
    }
    return r;
}

int uncore_groups_check(struct setup *setup, struct errors *errors) {
    const struct config_uncore *config = &setup->config->uncore;
    struct search search = {.setup = setup, .named = config->named, .n = config->n_named};
    bool all = true;
    int r = 0;
    for (size_t i = 0; i < config->n_named; i++)
        all = all && has_group(setup, config->named[i].name);
    if (all)
        return 0;
    search.known = calloc(search.n, sizeof *search.known);
    search.near = calloc(search.n, sizeof *search.near);
    if (!search.known || !search.near)
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < search.n; i++)
        search.known[i] = has_group(setup, search.named[i].name);
    if (r == 0)
        r = compare_shipped(&search, errors);
    if (r == 0)
        r = report(&search, errors);
    for (size_t i = 0; search.near && i < search.n; i++)
        free((char *)search.near[i]);
    free(search.near);
    free(search.known);
    return r;
}
