// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perf_json.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/vendor/perf_json_private.h"
#include "config/vendor/perfmon_files.h"

// The entries are indexed by name first. Metrics then pull in the metrics and events that their formulas name, so the
// cost of a start depends on what is used, not on what exists.

enum { TREES_FILE_MAX = 1 << 20, TREES_DEPTH_MAX = 8, FIXED_MAX = 16 };

static bool has_event(const void *context, const char *name) {
    const struct perf_reader *reader = context;
    return name_index_find(&reader->events, name, strlen(name), true) >= 0 ||
           catalog_find_event(reader->catalog, name) >= 0;
}

static int take(struct perf_reader *reader, int r, const struct fault *fault) {
    return r == -EINVAL ? errors_add(reader->errors, reader->request->trees, 0, 0, "%s", fault->text) : r < 0 ? r : 0;
}

// Reads the formats of other PMUs. Of several rows for one PMU the first for this CPU applies.
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

// The format of the boxes is that of the first row for their PMU; of several rows for one pattern as above.
static int read_boxes_format(struct perf_reader *reader) {
    struct fault fault;
    const cJSON *row, *field;
    int r = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "pmu_formats")) {
        const char *pmu = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "pmu"));
        const char *cpuid = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, "cpuid"));
        if (!pmu || fnmatch(pmu, reader->pmu, 0) != 0 || (cpuid && !environment_is_cpu(&reader->environment, cpuid)))
            continue;
        cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(row, "format")) {
            if (r == 0 && cJSON_IsString(field))
                r = take(reader, catalog_builder_add_format(reader->builder, field->string, field->valuestring, &fault),
                         &fault);
        }
        return r;
    }
    return take(reader, catalog_builder_add_format(reader->builder, "event", "config:0-63", &fault), &fault);
}

// Reads the codes of exclusive events. Of several rows, all for this CPU apply.
static int read_exclusive(struct perf_reader *reader) {
    struct fault fault;
    const cJSON *row, *code;
    int r = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "exclusive_events")) {
        if (!environment_is_cpu(&reader->environment, row->string))
            continue;
        cJSON_ArrayForEach(code, row) {
            if (r == 0 && cJSON_IsString(code))
                r = take(reader,
                         catalog_builder_add_exclusive(reader->builder, strtoull(code->valuestring, NULL, 0), &fault),
                         &fault);
        }
    }
    return r;
}

// The formats of the PMUs that metrics of boxes need beside them.
static int read_formats_beside(struct perf_reader *reader) {
    struct fault fault;
    const cJSON *field;
    int r = read_pmu_formats(reader);
    cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(reader->tree.value, "format")) {
        if (r == 0 && cJSON_IsString(field))
            r = take(reader,
                     catalog_builder_add_pmu_format(reader->builder, "cpu", field->string, field->valuestring, &fault),
                     &fault);
    }
    return r;
}

static int read_format(struct perf_reader *reader) {
    struct fault fault;
    const cJSON *field;
    int r = 0;
    if (reader->request->boxes) {
        r = read_boxes_format(reader);
        return r == 0 && reader->request->boxes->n_beside > 0 ? read_formats_beside(reader) : r;
    }
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
    return r == 0 ? read_exclusive(reader) : r;
}

static int catalog_begin(struct perf_reader *reader) {
    const char *vendor = "", *pmu = reader->pmu;
    (void)json_get_text(&reader->tree, "vendor", JSON_REQUIRED, &vendor);
    if (!reader->request->pmu && !reader->request->boxes && strcmp(pmu, "cpu") == 0)
        (void)json_get_text(&reader->tree, "pmu", JSON_OPTIONAL, &pmu);
    if (reader->trees_reader.status < 0)
        return reader->trees_reader.status;
    const char *name = reader->files.name;
    int r = catalog_builder_new(name, vendor, name, name, pmu, &reader->builder);
    if (r < 0)
        return r;
    reader->catalog = catalog_builder_catalog(reader->builder);
    double width = perf_tree_width(reader);
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
    if (!reader->request->boxes)
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
    // not every file has the number of counters of all boxes as a text, but events name counters beyond the default
    for (size_t e = 0; reader->request->boxes && e < reader->catalog->n_events; e++)
        while (general < EVENT_COUNTERS_MAX && reader->catalog->events[e].need.counters >> (unsigned)general != 0)
            general++;
    return (unsigned)general;
}

// The events of one of the tree's lists that are in the catalog.
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
    size_t n = reader->request->boxes ? 0 : known_events(reader, "fixed", events);
    int r = take(reader, catalog_builder_set_counters(reader->builder, general_counters(reader), events, n, &fault),
                 &fault);
    if (reader->request->boxes)
        return r;
    // a group of one event is none
    n = known_events(reader, "resident", events);
    if (r == 0 && n > 1 && n <= CATALOG_TOPDOWN_MAX)
        r = take(reader, catalog_builder_set_topdown(reader->builder, events, n, &fault), &fault);
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
    int r = perf_items_collect(reader);
    if (r == 0)
        r = perf_tree_choose(reader);
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
    free(reader->topdown.texts);
    free(reader->must_count.texts);
    free(reader->sampling_terms.texts);
    free(reader->slots_groups.texts);
    cJSON_Delete(reader->trees);
    return r;
}

static int open_files(const struct perf_json_request *request, struct errors *errors, struct perf_files *out) {
    return request->perfmon ? perfmon_files_open(request->path, request->cpuid, request->trees, errors, out)
                            : perf_files_open(request->path, request->cpuid, errors, out);
}

int perf_json_read(const struct perf_json_request *request, struct errors *errors, struct catalog_builder **out) {
    struct perf_reader reader = {.request = request, .errors = errors};
    int r = open_files(request, errors, &reader.files);
    if (r == 0)
        r = load(&reader, out);
    perf_files_close(&reader.files);
    return r;
}

static void add_pmu(const struct perf_reader *reader, const char *unit, struct perf_json_pmus *out) {
    char made[PERF_GROUP_NAME_MAX];
    const char *pmu = perf_pmu_of_unit(reader, unit, made, sizeof made);
    size_t i = 0;
    while (i < out->n && strcmp(out->names[i], pmu) != 0)
        i++;
    if (i == out->n && i < PERF_BOXES_MAX && strlen(pmu) < PERF_PMU_MAX)
        (void)snprintf(out->names[out->n++], PERF_PMU_MAX, "%s", pmu);
}

int perf_json_find_boxes(const struct perf_json_request *request, struct errors *errors, struct perf_json_pmus *out) {
    struct perf_reader reader = {.request = request, .errors = errors};
    struct perf_cursor cursor = {.next = NULL};
    struct perf_entry entry;
    int r = open_files(request, errors, &reader.files);
    if (r < 0)
        return r;
    reader.trees_reader = (struct json_reader){.file = request->trees, .errors = errors};
    reader.trees = json_load(&reader.trees_reader, TREES_FILE_MAX, TREES_DEPTH_MAX);
    r = reader.trees ? 0 : reader.trees_reader.status;
    if (r == 0) {
        reader.root = json_root(&reader.trees_reader, reader.trees);
        out->n = 0;
        while (perf_files_next(&reader.files, &cursor, errors, &entry))
            if (entry.fields[PERF_EVENT_NAME] && entry.fields[PERF_UNIT] &&
                !perf_is_core_unit(&reader, entry.fields[PERF_UNIT]))
                add_pmu(&reader, entry.fields[PERF_UNIT], out);
    }
    cJSON_Delete(reader.trees);
    perf_files_close(&reader.files);
    return r;
}

// True for a PMU that the files have no events of, but formulas of the kernel's names: of power, of idle states.
static bool is_kernels(const struct perf_reader *reader, const char *pmu) {
    const cJSON *other;
    bool is = false;
    cJSON_ArrayForEach(other, cJSON_GetObjectItemCaseSensitive(reader->root.value, "other_pmus")) {
        is = is || (cJSON_IsString(other) && strcmp(other->valuestring, pmu) == 0);
    }
    return is;
}

static void add_join(const struct perf_reader *reader, const struct perf_json_joined *needed,
                     struct perf_json_joins *out) {
    bool known = needed->n < 2 || out->n == PERF_JOINED_MAX || is_kernels(reader, needed->pmus[0]);
    for (size_t i = 0; i < out->n && !known; i++) {
        known = out->joined[i].n == needed->n;
        for (size_t p = 0; p < needed->n && known; p++)
            known = strcmp(out->joined[i].pmus[p], needed->pmus[p]) == 0;
    }
    if (!known)
        out->joined[out->n++] = *needed;
}

static int collect_joins(struct perf_reader *reader, struct perf_json_joins *out) {
    struct perf_json_joined needed;
    reader->root = json_root(&reader->trees_reader, reader->trees);
    int r = perf_items_collect(reader);
    out->n = 0;
    for (size_t i = 0; i < reader->n && r == 0; i++)
        if (reader->items[i].metric && reader->items[i].formula &&
            perf_boxes_needed(reader, reader->items[i].formula, &needed))
            add_join(reader, &needed, out);
    return r;
}

int perf_json_find_joined(const struct perf_json_request *request, struct errors *errors, struct perf_json_joins *out) {
    struct perf_json_request cores = *request;
    struct perf_reader reader = {.request = &cores, .errors = errors};
    cores.boxes = NULL;
    int r = open_files(&cores, errors, &reader.files);
    if (r < 0)
        return r;
    reader.trees_reader = (struct json_reader){.file = cores.trees, .errors = errors};
    reader.trees = json_load(&reader.trees_reader, TREES_FILE_MAX, TREES_DEPTH_MAX);
    r = reader.trees ? collect_joins(&reader, out) : reader.trees_reader.status;
    name_index_deinit(&reader.metrics);
    name_index_deinit(&reader.events);
    free(reader.items);
    cJSON_Delete(reader.trees);
    perf_files_close(&reader.files);
    return r;
}

int perf_json_parse(const struct perf_json_request *request, const char *name, const char *text, size_t length,
                    struct errors *errors, struct catalog **out) {
    struct perf_reader reader = {.request = request, .errors = errors};
    struct catalog_builder *builder;
    int r = request->perfmon ? perfmon_files_parse(name, text, length, request->trees, errors, &reader.files)
                             : perf_files_parse(name, text, length, errors, &reader.files);
    if (r == 0)
        r = load(&reader, &builder);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    perf_files_close(&reader.files);
    return r;
}
