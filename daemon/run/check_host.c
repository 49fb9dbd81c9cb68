// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/check_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/selection.h"

static bool file_exists(const char *path) { return access(path, F_OK) == 0; }

static int refuse_cpu(const struct setup *setup, const char *cpu, struct errors *errors) {
    const char *near = error_suggest(cpu, (const char *const *)setup->specs.names, setup->specs.n);
    return errors_add(errors, NULL, 0, 0, "there is no spec '%s': %s%s%s'topdownd list cpus' shows all", cpu,
                      near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
}

static int show_groups(const struct config_profile *profile, const struct catalog *catalog, bool vendors) {
    char missing[SETUP_MISSING_MAX];
    struct plan_selection *selections = NULL;
    int n = selection_make(profile, catalog, vendors, &selections, missing, sizeof missing);
    for (int i = 0; i < n; i++)
        (void)printf("%s%s", i == 0 ? "it measures " : ", ", catalog->groups[selections[i].group].name);
    (void)printf("%s\n", n == 0 ? "it measures nothing" : "");
    if (n >= 0 && missing[0] != '\0')
        (void)printf("warning: this CPU does not have %s\n", missing);
    free(selections);
    return n < 0 ? n : 0;
}

// As such a host would have it: with the kernel's software events.
static int load(const struct specs *specs, const char *cpu, struct errors *errors, struct catalog **out) {
    struct catalog_builder *builder;
    int r = specs_read(specs, cpu, NULL, errors, &builder);
    if (r < 0)
        return r;
    r = strcmp(cpu, SPEC_SOFTWARE) == 0 ? 0 : specs_add_software(specs, errors, builder);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    else
        catalog_builder_free(builder);
    return r;
}

int check_host(const struct setup *setup, const char *hostname, const char *cpu, struct errors *errors) {
    const char *cpus[SOURCE_TYPES_MAX] = {cpu};
    struct catalog *catalog = NULL;
    if (cpu && !specs_has(&setup->specs, cpu))
        return refuse_cpu(setup, cpu, errors);
    for (size_t i = 0; i < setup->n_types && !cpu; i++)
        cpus[i] = setup->types[i].source->catalog->product.spec;
    const struct config_facts facts = {.hostname = hostname ? hostname : setup->hostname,
                                       .cpus = cpus,
                                       .n_cpus = cpu ? 1 : setup->n_types,
                                       .file_exists = file_exists};
    const struct config_profile *profile = config_select(setup->config, &facts);
    int r = cpu ? load(&setup->specs, cpu, errors, &catalog) : 0;
    for (size_t i = 0; i < facts.n_cpus && r == 0; i++) {
        const struct source *source = setup->types[i].source;
        (void)printf("host %s with CPU %s: profile %s\n", facts.hostname, cpus[i], profile->name);
        r = show_groups(profile, cpu ? catalog : source->catalog, !cpu && source->vendors);
    }
    catalog_free(catalog);
    return r;
}
