// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "config/vendor/perf_json_private.h"

// Finds the tree of trees.json for this CPU, and reads it.

const char **perf_tree_texts(const struct perf_reader *reader, const char *key, size_t *n) {
    const char **texts = NULL;
    return json_get_texts(&reader->tree, key, JSON_OPTIONAL, PERF_LIST_MAX, &texts, n) ? texts : NULL;
}

const char *perf_tree_text(const struct perf_reader *reader, const char *object, const char *key) {
    return cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->tree.value, object), key));
}

const char *perf_tree_text_any(const struct perf_reader *reader, const char *object, const char *key) {
    const cJSON *child;
    cJSON_ArrayForEach(child, cJSON_GetObjectItemCaseSensitive(reader->tree.value, object)) {
        if (strcasecmp(child->string, key) == 0)
            return cJSON_GetStringValue(child);
    }
    return NULL;
}

bool perf_is_core(const struct perf_reader *reader, const char *unit) {
    char pmu[PERF_GROUP_NAME_MAX];
    if (reader->request->boxes)
        return unit && strcmp(perf_pmu_of_unit(reader, unit, pmu, sizeof pmu), reader->pmu) == 0;
    return !unit || strcmp(unit, "core") == 0 || strcmp(unit, reader->pmu) == 0;
}

const char *perf_pmu_of_unit(const struct perf_reader *reader, const char *unit, char *out, size_t size) {
    const char *known = unit ? cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
                                   cJSON_GetObjectItemCaseSensitive(reader->root.value, "units"), unit))
                             : "cpu";
    if (known)
        return known;
    (void)snprintf(out, size, "uncore_%s", unit);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == ' ' ? '_' : (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return out;
}

bool perf_is_core_unit(const struct perf_reader *reader, const char *unit) {
    const cJSON *core;
    bool is = !unit || strcmp(unit, "core") == 0;
    cJSON_ArrayForEach(core, cJSON_GetObjectItemCaseSensitive(reader->root.value, "core_pmus")) {
        is = is || (cJSON_IsString(core) && strcmp(core->valuestring, unit) == 0);
    }
    return is;
}

bool perf_is_named_as_it_is(const struct perf_reader *reader, const char *pmu) {
    const cJSON *cpus = cJSON_GetObjectItemCaseSensitive(reader->root.value, "cpu_pmus"), *other;
    bool is = strncmp(pmu, "cpu", 3) == 0 || strncmp(pmu, "uncore_", 7) == 0 || cJSON_HasObjectItem(cpus, pmu);
    cJSON_ArrayForEach(other, cJSON_GetObjectItemCaseSensitive(reader->root.value, "other_pmus")) {
        is = is || (cJSON_IsString(other) && strcmp(other->valuestring, pmu) == 0);
    }
    return is;
}

static bool tree_fits(const struct perf_reader *reader, const cJSON *tree, const struct environment *environment) {
    const char *pattern = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "cpuid"));
    const cJSON *event;
    cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(tree, "not_with")) {
        if (cJSON_IsString(event) &&
            name_index_find(&reader->events, event->valuestring, strlen(event->valuestring), true) >= 0)
            return false;
    }
    return pattern && environment_is_cpu(environment, pattern);
}

static struct perf_texts tree_list(const struct perf_reader *reader, const char *key) {
    struct perf_texts list = {.n = 0};
    list.texts = perf_tree_texts(reader, key, &list.n);
    return list;
}

// Reads the lists with which every metric and event is compared.
static void tree_read(struct perf_reader *reader) {
    reader->slots_groups = tree_list(reader, "slots_groups");
    reader->sampling_terms = tree_list(reader, "sampling_terms");
    reader->topdown = tree_list(reader, "resident");
    reader->must_count = tree_list(reader, "must_count");
}

int perf_tree_choose(struct perf_reader *reader) {
    struct json_node trees;
    const cJSON *tree;
    struct environment environment = reader->environment;
    size_t index = 0;
    if (!json_get_array(&reader->root, "trees", JSON_REQUIRED, PERF_LIST_MAX, &trees))
        return reader->trees_reader.status;
    cJSON_ArrayForEach(tree, trees.value) {
        if (tree_fits(reader, tree, &environment)) {
            reader->tree = json_child(&reader->root, tree, index);
            tree_read(reader);
            return 0;
        }
        index++;
    }
    (void)errors_add(reader->errors, reader->request->trees, 0, 0,
                     "has no tree for the CPU %.60s, which %.100s is for: the formats of its PMU and its level 1 are "
                     "not known",
                     environment.facts.cpuid[0] != '\0' ? environment.facts.cpuid : "(not given)",
                     reader->files.folder);
    return -ENOENT;
}

double perf_tree_width(const struct perf_reader *reader) {
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "widths")) {
        if (cJSON_IsNumber(row) && environment_is_cpu(&reader->environment, row->string))
            return row->valuedouble;
    }
    return 0;
}
