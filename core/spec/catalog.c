// SPDX-License-Identifier: Apache-2.0
#include "core/spec/catalog.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/spec/catalog_private.h"

// Making and freeing, and what the CPU is.

const char *category_name(enum category category) {
    static const char *const names[CATEGORY_N] = {"frontend_bound", "bad_speculation", "retiring", "backend_bound",
                                                  "smt_contention"};
    return names[category];
}

char *catalog_copy(const char *text) { return strdup(text ? text : ""); }

void *catalog_grow(void **array, size_t n, size_t size) {
    void *larger = array_grow(*array, n, size);
    if (!larger)
        return NULL;
    *array = larger;
    void *item = (char *)*array + n * size;
    memset(item, 0, size);
    return item;
}

// Names end up in labels, paths of messages and family names: printable ASCII without quotes and backslashes.
static bool name_is_sound(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > CATALOG_NAME_MAX)
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c) || *c == '"' || *c == '\\')
            return false;
    return true;
}

int catalog_check_name(const char *kind, const char *name, bool exists, struct fault *fault) {
    if (!name_is_sound(name))
        return fault_set(fault, "the %s name '%.40s' is empty, too long or has characters other than printable ASCII",
                         kind, name);
    if (exists)
        return fault_set(fault, "the %s %s stands twice: remove one", kind, name);
    return 0;
}

int catalog_new(const char *spec, const char *vendor, const char *name, const char *microarchitecture, const char *pmu,
                struct catalog **out) {
    struct catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return -ENOMEM;
    catalog->product = (struct catalog_product){.spec = catalog_copy(spec),
                                                .vendor = catalog_copy(vendor),
                                                .name = catalog_copy(name),
                                                .microarchitecture = catalog_copy(microarchitecture),
                                                .pmu = catalog_copy(pmu)};
    catalog->pmus[catalog->n_pmus++] = catalog_copy(pmu);
    catalog->watchdog_event = catalog->duration_event = catalog->core_wide_event = -1;
    environment_init(&catalog->environment);
    const struct catalog_product *product = &catalog->product;
    const struct catalog_event_text seconds = {.name = "cpu_seconds", .title = "CPU time measured", .terms = ""};
    if (!product->spec || !product->vendor || !product->name || !product->microarchitecture || !product->pmu ||
        !catalog->pmus[0] || catalog_append_event(catalog, &seconds, EVENT_CPU_SECONDS) < 0) {
        catalog_free(catalog);
        return -ENOMEM;
    }
    *out = catalog;
    return 0;
}

static void level1_deinit(struct catalog_level1 *level1) {
    free(level1->metrics);
    formula_free(level1->pipeline_slots);
    free(level1->pipeline_slots_text);
}

static void product_deinit(struct catalog_product *product) {
    free(product->pmu);
    free(product->microarchitecture);
    free(product->name);
    free(product->vendor);
    free(product->spec);
}

struct catalog *catalog_free(struct catalog *catalog) {
    if (!catalog)
        return NULL;
    name_index_deinit(&catalog->export_index);
    name_index_deinit(&catalog->metric_index);
    name_index_deinit(&catalog->event_index);
    for (size_t i = 0; i < catalog->n_nodes; i++)
        catalog_free_node(&catalog->nodes[i]);
    free(catalog->nodes);
    level1_deinit(&catalog->level1_without_resident);
    level1_deinit(&catalog->level1);
    for (size_t i = 0; i < catalog->n_groups; i++)
        catalog_free_group(&catalog->groups[i]);
    free(catalog->groups);
    for (size_t i = 0; i < catalog->n_metrics; i++)
        catalog_free_metric(&catalog->metrics[i]);
    free(catalog->metrics);
    for (size_t i = 0; i < catalog->n_aliases; i++)
        free(catalog->aliases[i]);
    free(catalog->aliases);
    for (size_t i = 0; i < catalog->n_events; i++)
        catalog_free_event(&catalog->events[i]);
    free(catalog->events);
    for (size_t i = 0; i < catalog->n_registers; i++)
        free(catalog->registers[i].term);
    for (size_t i = 0; i < catalog->n_pmu_formats; i++) {
        event_format_free(catalog->pmu_formats[i].format);
        free(catalog->pmu_formats[i].pmu);
    }
    free(catalog->pmu_formats);
    event_format_free(catalog->format);
    for (size_t i = 0; i < catalog->n_pmus; i++)
        free(catalog->pmus[i]);
    product_deinit(&catalog->product);
    free(catalog);
    return NULL;
}

void catalog_set_environment(struct catalog *catalog, const struct environment *environment) {
    catalog->environment = *environment;
}

void catalog_set_resolver(struct catalog *catalog, const struct catalog_resolver *resolver) {
    catalog->resolver = resolver;
}
