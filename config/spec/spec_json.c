// SPDX-License-Identifier: Apache-2.0
#include "config/spec/spec_json.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_family.h"
#include "config/spec/spec_json_private.h"

// A spec is read in three passes: the product and its events; the metrics, which refer to events; groups, methodology
// and level 1, which refer to metrics. A pass shows all its mistakes and prevents later passes, which would only report
// their consequences.
//
// Fields of a vendor's file beyond the schema are ignored, since vendors add fields. In objects named "topdownd" an
// unknown key is a mistake.

// The revision is not used, but a file in which it is an object is not a valid spec.
static void check_revision(const struct json_node *product, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(product->value, key);
    if (!value || cJSON_IsString(value) || cJSON_IsNumber(value))
        return;
    const struct json_node node = json_child(product, value, 0);
    json_fail(&node, "must be text in quotes or a number");
}

static char *microarchitecture_of(const char *product_name) {
    char *name = strdup(product_name);
    for (char *c = name; c && *c != '\0'; c++)
        *c = *c == ' ' ? '-' : (char)tolower((unsigned char)*c);
    return name;
}

static void read_product(struct spec_reader *spec, const struct json_node *root, const struct json_node *ours) {
    struct json_node product;
    if (!json_get_object(root, "product_configuration", JSON_REQUIRED, &product))
        return;
    const char *name = NULL, *vendor = "", *microarchitecture = NULL, *pmu = "armv*";
    (void)json_get_text(&product, "product_name", JSON_REQUIRED, &name);
    if (json_get_text(&product, "implementer", JSON_OPTIONAL, &vendor) && strcmp(vendor, "0x41") == 0)
        vendor = "Arm";
    check_revision(&product, "major_revision");
    check_revision(&product, "minor_revision");
    if (ours->value) {
        static const char *const keys[] = {
            "vendor",           "microarchitecture", "pmu",           "format",   "pmu_formats",
            "counters",         "shared_registers",  "resident",      "level1",   "level1_without_resident",
            "exclusive_events", "bottlenecks",       "computes_well", "defaults", "composed_events"};
        json_check_keys(ours, keys, COUNT(keys));
        (void)json_get_text(ours, "vendor", JSON_OPTIONAL, &vendor);
        (void)json_get_text(ours, "microarchitecture", JSON_OPTIONAL, &microarchitecture);
        (void)json_get_text(ours, "pmu", JSON_OPTIONAL, &pmu);
    }
    if (vendor[0] == '\0')
        json_fail(&product, "has no implementer, and topdownd.vendor is missing too");
    if (spec->reader.status != 0)
        return;
    char *stem = json_file_stem(spec->reader.file), *derived = microarchitecture_of(name);
    if (!stem || !derived ||
        catalog_builder_new(stem, vendor, name, microarchitecture ? microarchitecture : derived, pmu, &spec->builder) <
            0)
        json_fail_memory(root);
    else
        spec->catalog = catalog_builder_catalog(spec->builder);
    free(derived);
    free(stem);
}

static void read_group(struct spec_reader *spec, const struct json_node *group) {
    const char *title = "", *help = "", **metrics;
    size_t n;
    (void)json_get_text(group, "title", JSON_OPTIONAL, &title);
    (void)json_get_text(group, "description", JSON_OPTIONAL, &help);
    if (!json_get_texts(group, "metrics", JSON_REQUIRED, SPEC_LIST_MAX, &metrics, &n))
        return;
    struct fault fault;
    if (spec->reader.lenient)
        n = spec_known_names(spec, group, metrics, n, catalog_find_metric);
    spec_take(group, catalog_builder_add_group(spec->builder, group->key, title, help, metrics, n, &fault), &fault);
    free(metrics);
}

void spec_read_groups(struct spec_reader *spec, const struct json_node *root) {
    struct json_node groups, of_metrics;
    const cJSON *value;
    if (!json_get_object(root, "groups", JSON_REQUIRED, &groups) ||
        !json_get_object(&groups, "metrics", JSON_REQUIRED, &of_metrics))
        return;
    cJSON_ArrayForEach(value, of_metrics.value) {
        const struct json_node group = json_child(&of_metrics, value, 0);
        if (json_is_object(&group))
            read_group(spec, &group);
        json_forgive(&spec->reader);
    }
}

// Finds the metrics where the tree begins: one flag for each metric of the spec.
static void read_roots(struct spec_reader *spec, const struct json_node *tree, bool *is_root) {
    const char **roots;
    size_t n;
    if (!json_get_texts(tree, "root_nodes", JSON_OPTIONAL, SPEC_LIST_MAX, &roots, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        int metric = catalog_find_metric(spec->catalog, roots[i]);
        if (metric >= 0)
            is_root[metric] = true;
        else
            json_fail(tree, "root_nodes names the metric %.60s, which the spec does not have", roots[i]);
    }
    free(roots);
}

static void read_samples(struct spec_reader *spec, const struct json_node *node, unsigned index) {
    const char **events;
    size_t n;
    struct fault fault;
    if (!json_get_texts(node, "sample_events", JSON_OPTIONAL, SPEC_LIST_MAX, &events, &n))
        return;
    for (size_t i = 0; i < n; i++)
        spec_take(node, catalog_builder_add_sample(spec->builder, index, events[i], &fault), &fault);
    free(events);
}

static void read_node(struct spec_reader *spec, const struct json_node *node, const bool *is_root) {
    const char *name, **next = NULL;
    size_t n = 0;
    struct fault fault;
    if (!json_is_object(node) || !json_get_text(node, "name", JSON_REQUIRED, &name))
        return;
    (void)json_get_texts(node, "next_items", JSON_OPTIONAL, SPEC_LIST_MAX, &next, &n);
    int metric = catalog_find_metric(spec->catalog, name);
    int r = catalog_builder_add_node(spec->builder, name, metric >= 0 && is_root[metric], next, n, &fault);
    spec_take(node, r, &fault);
    free(next);
    if (r >= 0)
        read_samples(spec, node, (unsigned)r);
}

static void read_tree(struct spec_reader *spec, const struct json_node *topdown) {
    struct json_node tree, metrics;
    const cJSON *value;
    size_t index = 0;
    if (!json_get_object(topdown, "decision_tree", JSON_OPTIONAL, &tree))
        return;
    bool *is_root = calloc(spec->catalog->n_metrics + 1, sizeof *is_root);
    if (!is_root) {
        json_fail_memory(&tree);
        return;
    }
    read_roots(spec, &tree, is_root);
    json_forgive(&spec->reader);
    if (json_get_array(&tree, "metrics", JSON_OPTIONAL, SPEC_LIST_MAX, &metrics))
        cJSON_ArrayForEach(value, metrics.value) {
            const struct json_node node = json_child(&metrics, value, index++);
            read_node(spec, &node, is_root);
            json_forgive(&spec->reader);
        }
    free(is_root);
}

// The stages of the methodology become groups of their own, so that a profile can use stage_1 on any CPU.
static void read_methodology(struct spec_reader *spec, const struct json_node *root) {
    static const char *const stages[] = {"stage_1", "stage_2"};
    struct json_node methodologies, topdown, grouping;
    if (!json_get_object(root, "methodologies", JSON_OPTIONAL, &methodologies) ||
        !json_get_object(&methodologies, "topdown_methodology", JSON_OPTIONAL, &topdown))
        return;
    read_tree(spec, &topdown);
    if (!json_get_object(&topdown, "metric_grouping", JSON_OPTIONAL, &grouping))
        return;
    for (size_t i = 0; i < COUNT(stages); i++) {
        const char **groups;
        size_t n;
        if (!json_get_texts(&grouping, stages[i], JSON_OPTIONAL, CATALOG_GROUPS_MAX, &groups, &n))
            continue;
        struct fault fault;
        if (spec->reader.lenient)
            n = spec_known_names(spec, &grouping, groups, n, catalog_find_group);
        if (n > 0 && catalog_find_group(spec->catalog, stages[i]) < 0)
            spec_take(&grouping, catalog_builder_add_union(spec->builder, stages[i], groups, n, &fault), &fault);
        json_forgive(&spec->reader);
        free(groups);
    }
}

static void read_defaults(struct spec_reader *spec, const struct json_node *ours) {
    const char **groups;
    size_t n;
    struct fault fault;
    if (!ours->value || !json_get_texts(ours, "defaults", JSON_OPTIONAL, CATALOG_GROUPS_MAX, &groups, &n))
        return;
    spec_take(ours, catalog_builder_set_defaults(spec->builder, groups, n, &fault), &fault);
    free(groups);
}

static struct json_node member_of(const struct json_node *object, const char *key) {
    return json_child(object, cJSON_GetObjectItemCaseSensitive(object->value, key), 0);
}

// What follows from the values of metrics. One that needs what is wrong is left out.
static void read_conclusions(struct spec_reader *spec, const struct json_node *ours) {
    const char *names[BOTTLENECK_N], *formula;
    struct json_node bottlenecks;
    struct fault fault;
    if (!ours->value)
        return;
    if (json_get_text(ours, "computes_well", JSON_OPTIONAL, &formula)) {
        const struct json_node well = member_of(ours, "computes_well");
        spec_take(&well, catalog_builder_set_computes_well(spec->builder, formula, &fault), &fault);
    }
    json_forgive(&spec->reader);
    if (!json_get_object(ours, "bottlenecks", JSON_OPTIONAL, &bottlenecks))
        return;
    for (unsigned i = 0; i < BOTTLENECK_N; i++)
        names[i] = bottleneck_table[i].name;
    json_check_keys(&bottlenecks, names, BOTTLENECK_N);
    for (unsigned i = 0; i < BOTTLENECK_N; i++) {
        if (json_get_text(&bottlenecks, names[i], JSON_OPTIONAL, &formula)) {
            const struct json_node heading = member_of(&bottlenecks, names[i]);
            spec_take(&heading, catalog_builder_set_bottleneck(spec->builder, (enum bottleneck)i, formula, &fault),
                      &fault);
        }
        json_forgive(&spec->reader);
    }
    spec_take(&bottlenecks, catalog_builder_add_bottleneck_group(spec->builder, &fault), &fault);
}

static void read_categories(struct spec_reader *spec, enum level1_variant variant, const struct json_node *level1) {
    struct json_node categories;
    const char *names[CATEGORY_N];
    struct fault fault;
    if (!json_get_object(level1, "categories", JSON_REQUIRED, &categories))
        return;
    for (unsigned i = 0; i < CATEGORY_N; i++)
        names[i] = category_name((enum category)i);
    json_check_keys(&categories, names, CATEGORY_N);
    for (unsigned i = 0; i < CATEGORY_N; i++) {
        const char *metric;
        if (json_get_text(&categories, names[i], JSON_OPTIONAL, &metric))
            spec_take(&categories,
                      catalog_builder_set_category(spec->builder, variant, (enum category)i, metric, &fault), &fault);
    }
}

static void read_split(struct spec_reader *spec, enum level1_variant variant, const struct json_node *level1) {
    struct json_node split;
    const cJSON *value;
    size_t index = 0;
    if (!json_get_array(level1, "split", JSON_OPTIONAL, CATALOG_SPLIT_MAX, &split))
        return;
    cJSON_ArrayForEach(value, split.value) {
        const struct json_node part = json_child(&split, value, index++);
        const char **events;
        size_t n;
        if (!json_texts(&part, CATALOG_SPLIT_EVENTS_MAX, &events, &n))
            continue;
        struct fault fault;
        spec_take(&part, catalog_builder_add_part(spec->builder, variant, events, n, &fault), &fault);
        free(events);
    }
}

// True if level 1 has all categories: a split needs them all.
static bool has_all_categories(const struct spec_reader *spec, const struct json_node *level1) {
    const cJSON *category;
    cJSON_ArrayForEach(category, cJSON_GetObjectItemCaseSensitive(level1->value, "categories")) {
        int metric = cJSON_IsString(category) ? catalog_find_metric(spec->catalog, category->valuestring) : -1;
        if (metric < 0 || spec->catalog->metrics[metric].unmeasurable)
            return false;
    }
    return true;
}

// True unless a formula is missing. Specs of earlier versions have `true`: their level 1 is that of one thread.
static bool read_per_thread(const struct json_node *level1, struct catalog_level1_text *text) {
    const char *names[THREAD_SLOTS_N];
    struct json_node per_thread;
    bool good = true;
    for (int i = 0; i < THREAD_SLOTS_N; i++)
        names[i] = catalog_thread_slots_name((enum catalog_thread_slots)i);
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(level1->value, "per_thread")) ||
        !json_get_object(level1, "per_thread", JSON_OPTIONAL, &per_thread))
        return true;
    json_check_keys(&per_thread, names, THREAD_SLOTS_N);
    for (int i = 0; i < THREAD_SLOTS_N; i++)
        good = json_get_text(&per_thread, names[i], JSON_REQUIRED, &text->thread[i]) && good;
    return good;
}

// 0 if the width is not known. False if it is the host's number of pipeline slots a cycle, "#slots", and the host does
// not state one.
static bool read_width(const struct spec_reader *spec, const struct json_node *level1, bool *good, double *out) {
    const cJSON *width = cJSON_GetObjectItemCaseSensitive(level1->value, "width");
    if (!cJSON_IsString(width) || strcmp(width->valuestring, "#slots") != 0) {
        (void)json_get_number(level1, "width", JSON_OPTIONAL, 1, 64, out);
        *good = (!width || cJSON_IsNull(width) || *out > 0) && *good;
        return true;
    }
    *out = spec->environment ? spec->environment->facts.literals[LITERAL_SLOTS] : 0;
    return *out >= 1 && *out <= 64;
}

static void read_level1(struct spec_reader *spec, const struct json_node *ours, const char *key,
                        enum level1_variant variant) {
    static const char *const keys[] = {"pipeline_slots", "width", "per_thread", "categories", "split"};
    struct json_node level1;
    struct catalog_level1_text text = {.width = 0};
    struct fault fault;
    if (!ours->value || !json_get_object(ours, key, JSON_OPTIONAL, &level1))
        return;
    if (spec->reader.lenient && !has_all_categories(spec, &level1))
        return; // its metrics have been reported
    json_check_keys(&level1, keys, COUNT(keys));
    bool good = json_get_text(&level1, "pipeline_slots", JSON_REQUIRED, &text.pipeline_slots);
    if (!read_width(spec, &level1, &good, &text.width))
        return;
    good = read_per_thread(&level1, &text) && good;
    if (good)
        spec_take(&level1, catalog_builder_set_level1(spec->builder, variant, &text, &fault), &fault);
    read_categories(spec, variant, &level1);
    read_split(spec, variant, &level1);
}

static void read_document(struct spec_reader *spec, const struct json_node *root) {
    struct json_node ours = {0};
    (void)json_get_object(root, "topdownd", JSON_OPTIONAL, &ours);
    read_product(spec, root, &ours);
    if (spec->reader.status != 0)
        return;
    if (spec->environment)
        catalog_builder_set_environment(spec->builder, spec->environment);
    spec_read_format(spec, root, &ours);
    if (spec->reader.status == 0)
        spec_read_events(spec, root);
    if (spec->reader.status == 0)
        spec_compose_events(spec, &ours);
    if (spec->reader.status == 0)
        spec_read_counters(spec, &ours);
    if (spec->reader.status == 0)
        spec_read_metrics(spec, root);
    if (spec->reader.status != 0)
        return;
    spec_read_groups(spec, root);
    if (spec->reader.status == 0)
        read_methodology(spec, root);
    read_conclusions(spec, &ours);
    read_defaults(spec, &ours);
    read_level1(spec, &ours, "level1", LEVEL1_USUAL);
    read_level1(spec, &ours, "level1_without_resident", LEVEL1_WITHOUT_TOPDOWN);
    if (spec->reader.status != 0)
        return;
    struct fault fault;
    spec_take(ours.value ? &ours : root, catalog_builder_check(spec->builder, &fault), &fault);
    if (spec->reader.status == 0)
        catalog_builder_trim_splits(spec->builder);
}

int spec_read(struct spec_reader *spec, cJSON *document, struct catalog_builder **out) {
    if (document) {
        const struct json_node root = json_root(&spec->reader, document);
        read_document(spec, &root);
    }
    if (spec->reader.status == 0)
        *out = spec->builder;
    else
        catalog_builder_free(spec->builder);
    free(spec->uncountable.names);
    cJSON_Delete(document);
    return spec->reader.status;
}

int spec_finish(int r, struct catalog_builder *builder, struct catalog **out) {
    if (r == 0)
        *out = catalog_builder_finish(builder);
    return r;
}

// Reads a document that may name a family: as spec_read.
static int read_whole(struct spec_reader *spec, cJSON *document, const struct spec_family_text *given,
                      struct catalog_builder **out) {
    struct spec_family family = {.path = NULL};
    if (document && spec_family_merge(&spec->reader, document, given, &family) < 0) {
        cJSON_Delete(document);
        document = NULL;
    }
    int r = spec_read(spec, document, out);
    spec_family_deinit(&family);
    return r;
}

int spec_json_parse_with(const char *name, const char *text, size_t length, const struct spec_family_text *family,
                         const struct environment *environment, struct errors *errors, struct catalog **out) {
    struct spec_reader spec = {.reader = {.file = name, .errors = errors}, .environment = environment};
    struct catalog_builder *builder = NULL;
    int r = read_whole(&spec, json_parse(&spec.reader, text, length, SPEC_DEPTH_MAX), family, &builder);
    return spec_finish(r, builder, out);
}

int spec_json_parse(const char *name, const char *text, size_t length, const struct environment *environment,
                    struct errors *errors, struct catalog **out) {
    return spec_json_parse_with(name, text, length, NULL, environment, errors, out);
}

int spec_json_read(const char *path, const struct environment *environment, struct errors *errors,
                   struct catalog_builder **out) {
    struct spec_reader spec = {.reader = {.file = path, .errors = errors}, .environment = environment};
    return read_whole(&spec, json_load(&spec.reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX), NULL, out);
}

int spec_json_print(const char *path, struct errors *errors, char **out) {
    struct json_reader reader = {.file = path, .errors = errors};
    struct spec_family family = {.path = NULL};
    cJSON *document = json_load(&reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    if (document && spec_family_merge(&reader, document, NULL, &family) == 0) {
        *out = cJSON_Print(document);
        reader.status = *out ? 0 : -ENOMEM;
    }
    spec_family_deinit(&family);
    cJSON_Delete(document);
    return reader.status;
}

int spec_json_load(const char *path, const struct environment *environment, struct errors *errors,
                   struct catalog **out) {
    struct catalog_builder *builder = NULL;
    int r = spec_json_read(path, environment, errors, &builder);
    return spec_finish(r, builder, out);
}
