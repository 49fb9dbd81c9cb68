// SPDX-License-Identifier: Apache-2.0
#include "daemon/check/check_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/selection.h"

static int refuse_cpu(const struct setup *setup, const char *cpu, struct errors *errors) {
    const char *near = error_suggest(cpu, (const char *const *)setup->specs.names, setup->specs.n);
    return errors_add(errors, NULL, 0, 0, "there is no spec '%s': %s%s%s'topdownd list cpus' shows all", cpu,
                      near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
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

static int select_groups(const struct config_profile *profile, bool vendors, struct check_type *type) {
    int n = selection_make(profile, type->catalog, vendors, &type->selections, type->missing, sizeof type->missing);
    type->n_selections = n > 0 ? (size_t)n : 0;
    return n < 0 ? n : 0;
}

int check_host_find(const struct setup *setup, const char *hostname, const char *cpu, struct errors *errors,
                    struct check_host *out) {
    const char *cpus[SOURCE_TYPES_MAX] = {cpu};
    *out = (struct check_host){.hostname = hostname ? hostname : setup->hostname, .n_types = cpu ? 1 : setup->n_types};
    if (cpu && !specs_has(&setup->specs, cpu))
        return refuse_cpu(setup, cpu, errors);
    for (size_t i = 0; i < setup->n_types && !cpu; i++)
        cpus[i] = setup->types[i].source->catalog->product.spec;
    const struct config_facts facts = {
        .hostname = out->hostname, .cpus = cpus, .n_cpus = out->n_types, .file_exists = setup_file_exists};
    out->profile = config_select(setup->config, &facts);
    int r = cpu ? load(&setup->specs, cpu, errors, &out->owned) : 0;
    for (size_t i = 0; i < out->n_types && r == 0; i++) {
        const struct source *source = setup->types[i].source;
        out->types[i].spec = cpus[i];
        out->types[i].catalog = cpu ? out->owned : source->catalog;
        r = select_groups(out->profile, !cpu && source->vendors, &out->types[i]);
    }
    return r;
}

void check_host_deinit(struct check_host *host) {
    for (size_t i = 0; i < SOURCE_TYPES_MAX; i++)
        free(host->types[i].selections);
    catalog_free(host->owned);
}

void check_host_print(const struct check_host *host) {
    for (size_t i = 0; i < host->n_types; i++) {
        const struct check_type *type = &host->types[i];
        (void)printf("host %s with CPU %s: profile %s\n", host->hostname, type->spec, host->profile->name);
        for (size_t g = 0; g < type->n_selections; g++)
            (void)printf("%s%s", g == 0 ? "it measures " : ", ", type->catalog->groups[type->selections[g].group].name);
        (void)printf("%s\n", type->n_selections == 0 ? "it measures nothing" : "");
    }
}
