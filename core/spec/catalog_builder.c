// SPDX-License-Identifier: Apache-2.0
#include "core/spec/catalog_builder.h"

#include <errno.h>
#include <stdlib.h>

#include "core/spec/catalog_builder_private.h"

// Begins and finishes a catalog. Outside the builder a half-built catalog is only visible as const.

// Sets the CPU's identity, and event 0.
static int begin(struct catalog_builder *builder, const char *spec, const char *vendor, const char *name,
                 const char *microarchitecture, const char *pmu) {
    struct catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return -ENOMEM;
    builder->catalog = catalog;
    catalog->product = (struct catalog_product){.spec = catalog_entry_copy(spec),
                                                .vendor = catalog_entry_copy(vendor),
                                                .name = catalog_entry_copy(name),
                                                .microarchitecture = catalog_entry_copy(microarchitecture),
                                                .pmu = catalog_entry_copy(pmu)};
    catalog->pmus[catalog->n_pmus++] = catalog_entry_copy(pmu);
    catalog->watchdog_event = catalog->duration_event = catalog->core_wide_event = -1;
    for (int i = 0; i < CORE_SLOTS_N; i++)
        catalog->core_slots[i] = -1;
    const struct catalog_product *product = &catalog->product;
    const struct catalog_event_text seconds = {.name = "cpu_seconds", .title = "CPU time measured", .terms = ""};
    if (!product->spec || !product->vendor || !product->name || !product->microarchitecture || !product->pmu ||
        !catalog->pmus[0])
        return -ENOMEM;
    int r = builder_append_event(builder, &seconds, EVENT_CPU_SECONDS);
    return r < 0 ? r : 0;
}

int catalog_builder_new(const char *spec, const char *vendor, const char *name, const char *microarchitecture,
                        const char *pmu, struct catalog_builder **out) {
    struct catalog_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return -ENOMEM;
    environment_init(&builder->environment);
    int r = begin(builder, spec, vendor, name, microarchitecture, pmu);
    if (r < 0) {
        catalog_builder_free(builder);
        return r;
    }
    *out = builder;
    return 0;
}

struct catalog_builder *catalog_builder_free(struct catalog_builder *builder) {
    if (!builder)
        return NULL;
    catalog_entry_free_level1(&builder->without_topdown);
    name_index_deinit(&builder->export_index);
    for (size_t i = 0; i < builder->n_pmu_formats; i++) {
        event_format_free(builder->pmu_formats[i].format);
        free(builder->pmu_formats[i].pmu);
    }
    free(builder->pmu_formats);
    catalog_free(builder->catalog);
    free(builder);
    return NULL;
}

struct catalog *catalog_builder_finish(struct catalog_builder *builder) {
    struct catalog *catalog = builder->catalog;
    catalog->environment = builder->environment.facts;
    builder_resolve_steps(catalog);
    builder->catalog = NULL;
    catalog_builder_free(builder);
    return catalog;
}

const struct catalog *catalog_builder_catalog(const struct catalog_builder *builder) { return builder->catalog; }

void catalog_builder_set_environment(struct catalog_builder *builder, const struct environment *environment) {
    builder->environment = *environment;
}

void catalog_builder_set_resolver(struct catalog_builder *builder, const struct catalog_resolver *resolver) {
    builder->resolver = resolver;
}

void catalog_builder_set_chosen(struct catalog_builder *builder) { builder->catalog->product.chosen = true; }
