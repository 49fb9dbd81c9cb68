// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "config/spec/spec_json_private.h"

// The document is pruned of what the catalog has, then read like any spec without its product.

static bool has_event(const struct catalog *catalog, const char *name) {
    return catalog_find_event(catalog, name) >= 0;
}

static bool has_group(const struct catalog *catalog, const char *name) {
    return catalog_find_group(catalog, name) >= 0;
}

// Names under which metrics are exported must be unique, too.
static bool has_metric(const struct catalog *catalog, const cJSON *metric) {
    const cJSON *ours = cJSON_GetObjectItemCaseSensitive(metric, "topdownd");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(ours, "name");
    if (catalog_find_metric(catalog, metric->string) >= 0)
        return true;
    for (size_t m = 0; m < catalog->n_metrics && cJSON_IsString(name); m++)
        if (strcmp(catalog->metrics[m].export_name, name->valuestring) == 0)
            return true;
    return false;
}

static bool is_known(const struct catalog *catalog, const char *kind, const cJSON *entry) {
    if (strcmp(kind, "events") == 0)
        return has_event(catalog, entry->string);
    return strcmp(kind, "metrics") == 0 ? has_metric(catalog, entry) : has_group(catalog, entry->string);
}

static void prune(const struct catalog *catalog, const char *kind, cJSON *entries) {
    for (cJSON *entry = cJSON_IsObject(entries) ? entries->child : NULL, *next; entry; entry = next) {
        next = entry->next;
        if (is_known(catalog, kind, entry))
            cJSON_Delete(cJSON_DetachItemViaPointer(entries, entry));
    }
}

// Leaves pruned metrics out of the groups, and groups without any other.
static void prune_lists(const struct catalog *catalog, const cJSON *metrics, cJSON *groups) {
    for (cJSON *group = groups ? groups->child : NULL, *next; group; group = next) {
        cJSON *list = cJSON_GetObjectItemCaseSensitive(group, "metrics");
        next = group->next;
        for (int i = cJSON_GetArraySize(list) - 1; i >= 0; i--) {
            const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
            if (name && !cJSON_GetObjectItemCaseSensitive(metrics, name) && catalog_find_metric(catalog, name) < 0)
                cJSON_DeleteItemFromArray(list, i);
        }
        if (cJSON_IsArray(list) && cJSON_GetArraySize(list) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(groups, group));
    }
}

static void prune_all(const struct catalog *catalog, cJSON *document) {
    cJSON *metrics = cJSON_GetObjectItemCaseSensitive(document, "metrics");
    cJSON *groups = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(document, "groups"), "metrics");
    prune(catalog, "events", cJSON_GetObjectItemCaseSensitive(document, "events"));
    prune(catalog, "metrics", metrics);
    prune(catalog, "groups", groups);
    prune_lists(catalog, metrics, groups);
}

static void read_added(struct spec_reader *spec, const struct json_node *root) {
    struct json_node ours = {0};
    struct fault fault;
    if (!json_get_object(root, "topdownd", JSON_REQUIRED, &ours) ||
        !json_get_text(&ours, "vendor", JSON_REQUIRED, &spec->vendor) ||
        !json_get_text(&ours, "pmu", JSON_REQUIRED, &spec->pmu))
        return;
    spec_take(&ours, catalog_builder_add_pmu_format(spec->builder, spec->pmu, "event", "config:0-63", &fault), &fault);
    if (spec->reader.status == 0)
        spec_read_events(spec, root);
    if (spec->reader.status == 0)
        spec_read_metrics(spec, root);
    if (spec->reader.status == 0)
        spec_read_groups(spec, root);
}

int spec_json_add(const char *path, struct errors *errors, struct catalog_builder *builder) {
    struct spec_reader spec = {
        .reader = {.file = path, .errors = errors}, .builder = builder, .catalog = catalog_builder_catalog(builder)};
    cJSON *document = json_load(&spec.reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    if (document) {
        prune_all(spec.catalog, document);
        const struct json_node root = json_root(&spec.reader, document);
        read_added(&spec, &root);
    }
    free(spec.uncountable.names);
    cJSON_Delete(document);
    return spec.reader.status;
}
