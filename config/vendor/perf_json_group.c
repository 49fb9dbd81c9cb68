// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/level1_splits.h"
#include "config/vendor/perf_json_private.h"
#include "core/base/array.h"
#include "core/base/name.h"

// Reads metric groups from MetricGroup, which lists a metric's groups; stages and level 1 from the tree.

struct group {
    char *name, *folded;
    const char **metrics;
    size_t n;
};

struct groups {
    struct group *items;
    size_t n;
    struct name_index index; // of folded names, as the catalog compares them
};

static void groups_deinit(struct groups *groups) {
    name_index_deinit(&groups->index);
    for (size_t i = 0; i < groups->n; i++) {
        free(groups->items[i].name);
        free(groups->items[i].folded);
        free(groups->items[i].metrics);
    }
    free(groups->items);
}

// The group of this name, created if new; -1 if out of memory.
static int group_find(struct groups *groups, const char *name, size_t length) {
    char text[PERF_GROUP_NAME_MAX], folded[PERF_GROUP_NAME_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)length, name);
    name_fold(text, folded, sizeof folded);
    int found = name_index_find(&groups->index, folded, strlen(folded), false);
    if (found >= 0)
        return found;
    struct group *items = array_grow(groups->items, groups->n, sizeof *items);
    if (!items)
        return -1;
    groups->items = items;
    struct group *group = &groups->items[groups->n++];
    *group = (struct group){.name = strdup(text), .folded = strdup(folded)};
    if (!group->name || !group->folded || name_index_add(&groups->index, group->folded, (unsigned)groups->n - 1) < 0)
        return -1;
    return (int)groups->n - 1;
}

static int group_add(struct groups *groups, const char *name, size_t length, const char *metric) {
    int found = group_find(groups, name, length);
    if (found < 0)
        return -ENOMEM;
    struct group *group = &groups->items[found];
    const char **metrics = array_grow(group->metrics, group->n, sizeof *metrics);
    if (!metrics)
        return -ENOMEM;
    group->metrics = metrics;
    group->metrics[group->n++] = metric;
    return 0;
}

static bool is_unmeasurable(const struct perf_reader *reader, const char *name) {
    int metric = catalog_find_metric(reader->catalog, name);
    return metric < 0 || reader->catalog->metrics[metric].unmeasurable;
}

static int collect(struct perf_reader *reader, struct groups *groups) {
    char kind[PERF_JOINED_NAME_MAX];
    int r = 0;
    perf_boxes_name(reader, kind);
    for (size_t i = 0; i < reader->n && r == 0; i++) {
        struct perf_entry entry;
        if (reader->items[i].metric_state != PERF_READ || (reader->request->boxes && !reader->items[i].listed))
            continue;
        if (reader->request->boxes && !is_unmeasurable(reader, reader->items[i].metric))
            r = group_add(groups, kind, strlen(kind), reader->items[i].metric);
        perf_item_read(reader, &reader->items[i], &entry);
        for (const char *at = entry.fields[PERF_METRIC_GROUP]; at && *at != '\0' && r == 0;) {
            at += strspn(at, "; ");
            size_t length = strcspn(at, "; ");
            if (length >= PERF_GROUP_NAME_MAX)
                perf_entry_fail(&entry, reader->errors, "the name of its group %.40s... is too long", at);
            else if (length > 0)
                r = group_add(groups, at, length, reader->items[i].metric);
            at += length;
        }
    }
    return r;
}

// Adds the tree's own groups whose metrics the catalog has, unless the files have a group of that name.
static int collect_own(struct perf_reader *reader, struct groups *groups) {
    const cJSON *group, *metric;
    size_t vendors = groups->n;
    int r = 0;
    cJSON_ArrayForEach(group, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "groups")) {
        char folded[PERF_GROUP_NAME_MAX];
        name_fold(group->string, folded, sizeof folded);
        int found = name_index_find(&groups->index, folded, strlen(folded), false);
        if (found >= 0 && (size_t)found < vendors)
            continue;
        cJSON_ArrayForEach(metric, group) {
            if (r == 0 && cJSON_IsString(metric) && catalog_find_metric(reader->catalog, metric->valuestring) >= 0)
                r = group_add(groups, group->string, strlen(group->string), metric->valuestring);
        }
    }
    return r;
}

static int add_groups(struct perf_reader *reader, const struct groups *groups) {
    struct fault fault;
    for (size_t i = 0; i < groups->n; i++) {
        const struct group *group = &groups->items[i];
        int r = catalog_builder_add_group(reader->builder, group->name, group->name,
                                          perf_files_group_text(&reader->files, group->name), group->metrics, group->n,
                                          &fault);
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            (void)errors_add(reader->errors, reader->files.folder, 0, 0, "the metric group %.60s: %s", group->name,
                             fault.text);
    }
    return 0;
}

// stage_1 is the first of the tree's groups that exists, stage_2 all of them.
static int add_stage(struct perf_reader *reader, const char *stage, size_t max) {
    struct fault fault;
    size_t n = 0, known = 0;
    const char **groups = perf_tree_texts(reader, stage, &n);
    for (size_t i = 0; i < n && known < max; i++)
        if (catalog_find_group(reader->catalog, groups[i]) >= 0)
            groups[known++] = groups[i];
    int r = known > 0 ? catalog_builder_add_union(reader->builder, stage, groups, known, &fault) : 0;
    free(groups);
    return r == -EINVAL ? errors_add(reader->errors, reader->files.folder, 0, 0, "%s", fault.text) : r < 0 ? r : 0;
}

// A group "NAME_group" is the next step if NAME is high.
static int add_nodes(struct perf_reader *reader) {
    static const char suffix[] = "_group";
    struct fault fault;
    const cJSON *categories =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->tree.value, "level1"), "categories");
    for (size_t i = 0; i < reader->catalog->n_groups; i++) {
        char name[PERF_GROUP_NAME_MAX];
        const char *group = reader->catalog->groups[i].name;
        size_t length = strlen(group), cut = sizeof suffix - 1;
        if (length <= cut || strcmp(group + length - cut, suffix) != 0)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length - cut), group);
        if (catalog_find_metric(reader->catalog, name) < 0)
            continue;
        bool root = false;
        const cJSON *category;
        cJSON_ArrayForEach(category, categories) {
            root = root || (cJSON_IsString(category) && strcmp(category->valuestring, name) == 0);
        }
        if (catalog_builder_add_node(reader->builder, name, root, &group, 1, &fault) == -ENOMEM)
            return -ENOMEM;
    }
    return 0;
}

// ---- level 1 ----

static enum category category_of(const char *name) {
    unsigned category = 0;
    while (category < CATEGORY_N && strcmp(category_name((enum category)category), name) != 0)
        category++;
    return (enum category)category;
}

// True if every category's metric exists, can be measured, and is a share of pipeline slots.
static bool level1_is_complete(const struct perf_reader *reader, const cJSON *categories) {
    const cJSON *category;
    size_t n = 0;
    cJSON_ArrayForEach(category, categories) {
        int metric = cJSON_IsString(category) && category_of(category->string) < CATEGORY_N
                         ? catalog_find_metric(reader->catalog, category->valuestring)
                         : -1;
        // without SMT there is no contention
        if (metric < 0 || reader->catalog->metrics[metric].unmeasurable ||
            reader->catalog->metrics[metric].domain != METRIC_PIPELINE_SLOTS)
            return false;
        n++;
    }
    return n >= 2;
}

static void read_per_thread(const struct perf_reader *reader, struct catalog_level1_text *text) {
    const cJSON *per_thread =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->tree.value, "level1"), "per_thread");
    for (int i = 0; per_thread && i < THREAD_SLOTS_N; i++) {
        const char *formula = cJSON_GetStringValue(
            cJSON_GetObjectItemCaseSensitive(per_thread, catalog_thread_slots_name((enum catalog_thread_slots)i)));
        text->thread[i] = formula ? formula : "";
    }
}

static int add_level1(struct perf_reader *reader) {
    struct fault fault;
    const char *slots = perf_tree_text(reader, "level1", "pipeline_slots");
    const cJSON *categories =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->tree.value, "level1"), "categories");
    double width = reader->environment.facts.literals[LITERAL_SLOTS];
    if (!slots || !(width >= 1 && width <= 64) || !level1_is_complete(reader, categories))
        return 0;
    struct catalog_level1_text text = {.pipeline_slots = slots, .width = width};
    read_per_thread(reader, &text);
    int r = catalog_builder_set_level1(reader->builder, LEVEL1_USUAL, &text, &fault);
    if (r == -EINVAL) // its events are missing: keep the metrics, without a split of the slots
        return 0;
    const cJSON *category;
    cJSON_ArrayForEach(category, categories) {
        if (r >= 0)
            r = catalog_builder_set_category(reader->builder, LEVEL1_USUAL, category_of(category->string),
                                             category->valuestring, &fault);
    }
    if (r >= 0)
        level1_splits_offer(cJSON_GetObjectItemCaseSensitive(reader->tree.value, "level1_splits"), reader->builder);
    return r == -EINVAL ? errors_add(reader->errors, reader->request->trees, 0, 0, "%s", fault.text) : r < 0 ? r : 0;
}

int perf_groups_read(struct perf_reader *reader) {
    struct groups groups = {.n = 0};
    bool boxes = reader->request->boxes != NULL; // no methodology is theirs
    int r = collect(reader, &groups);
    if (r == 0 && !boxes)
        r = collect_own(reader, &groups);
    if (r == 0)
        r = add_groups(reader, &groups);
    groups_deinit(&groups);
    if (boxes)
        return r;
    if (r == 0)
        r = add_stage(reader, "stage_1", 1);
    if (r == 0)
        r = add_stage(reader, "stage_2", PERF_LIST_MAX);
    if (r == 0)
        r = add_nodes(reader);
    return r == 0 ? add_level1(reader) : r;
}
