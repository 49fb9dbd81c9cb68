// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perf_json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/vendor/perf_json_private.h"
#include "core/base/array.h"

// The entries are indexed by name first; metrics then pull in the metrics and events that their formulas name, so that
// a start costs what is used and not what is there.

enum { TREES_FILE_MAX = 1 << 20, TREES_DEPTH_MAX = 8, FIXED_MAX = 16 };

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

// Whether a list of trees.json names the word.
static bool lists(const cJSON *list, const char *word) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, word) == 0)
            return true;
    }
    return false;
}

bool perf_is_core(const struct perf_reader *reader, const char *unit) {
    return !unit || strcmp(unit, "core") == 0 || strcmp(unit, reader->pmu) == 0;
}

const char *perf_pmu_of_unit(const struct perf_reader *reader, const char *unit, char *out, size_t size) {
    const char *known = cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(reader->root.value, "units"), unit));
    if (known)
        return known;
    (void)snprintf(out, size, "uncore_%s", unit);
    for (char *c = out; *c != '\0'; c++)
        *c = *c == ' ' ? '_' : (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    return out;
}

// ---- entries ----

// Room for one more.
static int items_reserve(struct perf_reader *reader) {
    struct perf_item *items = array_grow(reader->items, reader->n, sizeof *items);
    if (!items)
        return -ENOMEM;
    reader->items = items;
    return 0;
}

void perf_item_read(const struct perf_reader *reader, const struct perf_item *item, struct perf_entry *out) {
    (void)perf_files_read(&reader->files, item->file, item->place, item->value, reader->errors, out); // it was good
}

static void fail_twice(struct perf_reader *reader, const struct perf_item *item, const struct perf_item *first) {
    struct perf_entry entry;
    perf_item_read(reader, item, &entry);
    perf_entry_fail(&entry, reader->errors, "stands twice, first in %.120s, entry %zu: that one is used", first->file,
                    first->place);
}

static int index_event(struct perf_reader *reader, size_t i) {
    struct perf_item *item = &reader->items[i];
    int first = name_index_find_or_add(&reader->events, item->event, (unsigned)i);
    if (first < 0 || (size_t)first == i)
        return first < 0 ? first : 0;
    item->event_state = PERF_WRONG;
    fail_twice(reader, item, &reader->items[first]);
    return 0;
}

// The same metric may stand in two files.
static int index_metric(struct perf_reader *reader, size_t i) {
    struct perf_item *item = &reader->items[i];
    int first = name_index_find_or_add(&reader->metrics, item->metric, (unsigned)i);
    if (first < 0 || (size_t)first == i)
        return first < 0 ? first : 0;
    item->metric_state = PERF_WRONG;
    if (strcmp(item->formula, reader->items[first].formula) != 0)
        fail_twice(reader, item, &reader->items[first]);
    return 0;
}

static int items_index(struct perf_reader *reader) {
    int r = name_index_reserve(&reader->events, reader->n);
    if (r == 0)
        r = name_index_reserve(&reader->metrics, reader->n / 8);
    for (size_t i = 0; i < reader->n && r == 0; i++) {
        const struct perf_item *item = &reader->items[i];
        if (item->event)
            r = index_event(reader, i);
        if (r == 0 && item->metric && item->formula)
            r = index_metric(reader, i);
    }
    return r;
}

static struct perf_item item_of(const struct perf_entry *entry) {
    return (struct perf_item){.file = entry->file,
                              .place = entry->place,
                              .value = entry->value,
                              .event = entry->fields[PERF_EVENT_NAME],
                              .metric = entry->fields[PERF_METRIC_NAME],
                              .formula = entry->fields[PERF_METRIC_EXPR],
                              .counts = entry->fields[PERF_GENERIC_COUNTERS] != NULL};
}

// A hybrid's files hold several core PMUs, of which a catalog describes one: the first where none is asked for.
static bool is_of_other_core(struct perf_reader *reader, const cJSON *core_pmus, const char *unit) {
    if (!unit || !lists(core_pmus, unit))
        return false;
    if (!reader->pmu)
        reader->pmu = unit;
    return strcmp(unit, reader->pmu) != 0;
}

static int items_collect(struct perf_reader *reader) {
    struct perf_cursor cursor = {.next = NULL};
    struct perf_entry entry;
    const cJSON *core_pmus = cJSON_GetObjectItemCaseSensitive(reader->root.value, "core_pmus");
    reader->pmu = reader->request->pmu;
    while (perf_files_next(&reader->files, &cursor, reader->errors, &entry)) {
        if (is_of_other_core(reader, core_pmus, entry.fields[PERF_UNIT]))
            continue;
        int r = items_reserve(reader);
        if (r < 0)
            return r;
        reader->items[reader->n++] = item_of(&entry);
    }
    if (!reader->pmu)
        reader->pmu = "cpu";
    return items_index(reader);
}

// ---- which tree ----

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

// What every metric and event is held against.
static void tree_read(struct perf_reader *reader) {
    reader->slots_groups = tree_list(reader, "slots_groups");
    reader->sampling_terms = tree_list(reader, "sampling_terms");
    reader->resident = tree_list(reader, "resident");
}

static int tree_choose(struct perf_reader *reader) {
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

// The width of the CPU, from the first row that describes it; 0 where none does.
static double tree_width(const struct perf_reader *reader) {
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "widths")) {
        if (cJSON_IsNumber(row) && environment_is_cpu(&reader->environment, row->string))
            return row->valuedouble;
    }
    return 0;
}

// ---- the catalog ----

static bool has_event(const void *context, const char *name) {
    const struct perf_reader *reader = context;
    return name_index_find(&reader->events, name, strlen(name), true) >= 0 ||
           catalog_find_event(reader->catalog, name) >= 0;
}

static int take(struct perf_reader *reader, int r, const struct fault *fault) {
    return r == -EINVAL ? errors_add(reader->errors, reader->request->trees, 0, 0, "%s", fault->text) : r < 0 ? r : 0;
}

// The formats of other PMUs: of rows for the same PMU the first that is for this CPU.
static int read_pmu_formats(struct perf_reader *reader) {
    struct fault fault;
    const cJSON *row, *field;
    int r = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "pmu_formats")) {
        const char *pmu = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "pmu"));
        const char *cpuid = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "cpuid"));
        if (!pmu || catalog_builder_has_pmu_format(reader->builder, pmu) ||
            (cpuid && !environment_is_cpu(&reader->environment, cpuid)))
            continue;
        cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(row, "format")) {
            if (r == 0 && cJSON_IsString(field))
                r = take(
                    reader,
                    catalog_builder_add_pmu_format(reader->builder, pmu, field->string, field->valuestring, &fault),
                    &fault);
        }
    }
    return r;
}

static int read_format(struct perf_reader *reader) {
    struct fault fault;
    const cJSON *field;
    int r = 0;
    cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "format")) {
        if (r == 0 && cJSON_IsString(field))
            r = take(reader, catalog_builder_add_format(reader->builder, field->string, field->valuestring, &fault),
                     &fault);
    }
    if (r == 0)
        r = read_pmu_formats(reader);
    cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "shared_registers")) {
        if (r == 0 && cJSON_IsNumber(field) && field->valuedouble >= 1)
            r = take(reader,
                     catalog_builder_add_register(reader->builder, field->string, (unsigned)field->valuedouble, &fault),
                     &fault);
    }
    return r;
}

static int catalog_begin(struct perf_reader *reader) {
    const char *vendor = "", *pmu = reader->pmu;
    (void)json_get_text(&reader->tree, "vendor", JSON_REQUIRED, &vendor);
    if (!reader->request->pmu && strcmp(pmu, "cpu") == 0)
        (void)json_get_text(&reader->tree, "pmu", JSON_OPTIONAL, &pmu);
    if (reader->trees_reader.status < 0)
        return reader->trees_reader.status;
    const char *name = reader->files.name;
    int r = catalog_builder_new(name, vendor, name, name, pmu, &reader->builder);
    if (r < 0)
        return r;
    reader->catalog = catalog_builder_catalog(reader->builder);
    double width = tree_width(reader);
    if (isnan(reader->environment.facts.literals[LITERAL_SLOTS]) && width > 0)
        reader->environment.facts.literals[LITERAL_SLOTS] = width;
    struct environment environment = reader->environment;
    if (!environment.has_event) {
        environment.has_event = has_event;
        environment.context = reader;
    }
    catalog_builder_set_environment(reader->builder, &environment);
    return read_format(reader);
}

static unsigned general_counters(const struct perf_reader *reader) {
    double general = 4;
    (void)json_get_number(&reader->tree, "general_counters", JSON_OPTIONAL, 1, 64, &general);
    for (size_t i = 0; i < reader->n; i++) {
        struct perf_entry entry;
        if (!reader->items[i].counts)
            continue;
        perf_item_read(reader, &reader->items[i], &entry);
        const char *text = entry.fields[PERF_GENERIC_COUNTERS], *unit = entry.fields[PERF_UNIT];
        if (unit && perf_is_core(reader, unit) && atoi(text) >= 1 && atoi(text) <= 64)
            general = atoi(text);
    }
    return (unsigned)general;
}

// The events of a list of the tree that are in the catalog.
static size_t known_events(const struct perf_reader *reader, const char *key, const char *out[static PERF_LIST_MAX]) {
    size_t n = 0, known = 0;
    const char **events = perf_tree_texts(reader, key, &n);
    for (size_t i = 0; i < n; i++)
        if (catalog_find_event(reader->catalog, events[i]) >= 0)
            out[known++] = events[i];
    free(events);
    return known;
}

static int read_counters(struct perf_reader *reader) {
    struct fault fault;
    const char *events[PERF_LIST_MAX], *watchdog;
    size_t n = known_events(reader, "fixed", events);
    int r = take(reader, catalog_builder_set_counters(reader->builder, general_counters(reader), events, n, &fault),
                 &fault);
    // a group of one event is none
    n = known_events(reader, "resident", events);
    if (r == 0 && n > 1 && n <= CATALOG_RESIDENT_MAX)
        r = take(reader, catalog_builder_set_resident(reader->builder, events, n, &fault), &fault);
    if (r == 0 && json_get_text(&reader->tree, "nmi_watchdog", JSON_OPTIONAL, &watchdog)) {
        int event = catalog_find_event(reader->catalog, watchdog);
        if (event >= 0 && reader->catalog->events[event].fixed)
            r = take(reader, catalog_builder_set_watchdog(reader->builder, watchdog, &fault), &fault);
    }
    return r;
}

static int read_all(struct perf_reader *reader) {
    struct fault fault;
    reader->root = json_root(&reader->trees_reader, reader->trees);
    int r = items_collect(reader);
    if (r == 0)
        r = tree_choose(reader);
    if (r == 0)
        r = catalog_begin(reader);
    if (r == 0 && reader->request->all_events)
        r = perf_events_read(reader);
    if (r == 0)
        r = perf_metrics_read(reader);
    if (r == 0)
        r = read_counters(reader);
    if (r == 0)
        r = perf_groups_read(reader);
    if (r == 0)
        r = perf_metrics_refer(reader);
    if (r == 0)
        r = take(reader, catalog_builder_check(reader->builder, &fault), &fault);
    return r == 0 ? reader->failed : r;
}

static int load(struct perf_reader *reader, struct catalog_builder **out) {
    environment_init(&reader->environment);
    if (reader->request->environment)
        reader->environment = *reader->request->environment;
    if (reader->request->cpuid)
        (void)snprintf(reader->environment.facts.cpuid, sizeof reader->environment.facts.cpuid, "%s",
                       reader->request->cpuid);
    reader->trees_reader = (struct json_reader){.file = reader->request->trees, .errors = reader->errors};
    reader->trees = json_load(&reader->trees_reader, TREES_FILE_MAX, TREES_DEPTH_MAX);
    int r = reader->trees ? read_all(reader) : reader->trees_reader.status;
    if (r == 0 && reader->trees_reader.status < 0)
        r = reader->trees_reader.status;
    if (r == 0) {
        catalog_builder_set_environment(reader->builder, &reader->environment);
        *out = reader->builder;
    } else {
        catalog_builder_free(reader->builder);
    }
    name_index_deinit(&reader->metrics);
    name_index_deinit(&reader->events);
    free(reader->items);
    free(reader->resident.texts);
    free(reader->sampling_terms.texts);
    free(reader->slots_groups.texts);
    cJSON_Delete(reader->trees);
    return r;
}

int perf_json_read(const struct perf_json_request *request, struct errors *errors, struct catalog_builder **out) {
    struct perf_reader reader = {.request = request, .errors = errors};
    int r = perf_files_open(request->path, request->cpuid, errors, &reader.files);
    if (r == 0)
        r = load(&reader, out);
    perf_files_close(&reader.files);
    return r;
}

int perf_json_load(const struct perf_json_request *request, struct errors *errors, struct catalog **out) {
    struct catalog_builder *builder;
    int r = perf_json_read(request, errors, &builder);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    return r;
}

int perf_json_parse(const struct perf_json_request *request, const char *name, const char *text, size_t length,
                    struct errors *errors, struct catalog **out) {
    struct perf_reader reader = {.request = request, .errors = errors};
    struct catalog_builder *builder;
    int r = perf_files_parse(name, text, length, errors, &reader.files);
    if (r == 0)
        r = load(&reader, &builder);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    perf_files_close(&reader.files);
    return r;
}
