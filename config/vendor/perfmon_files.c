// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perfmon_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/json/json_reader.h"
#include "config/vendor/perfmon_map.h"
#include "config/vendor/perfmon_metric.h"

// A file is an object with a list "Events" or "Metrics". Its events have the fields of Linux' files already; metrics
// are converted (perfmon_metric.c).

enum { TREES_FILE_MAX = 1 << 20, TREES_DEPTH_MAX = 8 };

struct opening {
    struct errors *errors;
    struct perf_files files;
    cJSON *trees;       // NULL: only metrics are read
    const cJSON *rules; // "perfmon" of it
};

// ---- events ----

// In these files an event without a filter says so; one of a core type needs its PMU's name.
static int adapt_events(cJSON *events, const char *pmu) {
    cJSON *event;
    cJSON_ArrayForEach(event, events) {
        const char *filter = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(event, "Filter"));
        if (filter && strcasecmp(filter, "na") == 0)
            cJSON_DeleteItemFromObjectCaseSensitive(event, "Filter");
        if (pmu && cJSON_IsObject(event) && !cJSON_HasObjectItem(event, "Unit") &&
            !cJSON_AddStringToObject(event, "Unit", pmu))
            return -ENOMEM;
    }
    return 0;
}

// ---- files ----

static int add_list(struct opening *opening, const char *path, cJSON *list) {
    char *copy = strdup(path);
    if (!copy) {
        cJSON_Delete(list);
        return -ENOMEM;
    }
    opening->files.files[opening->files.n++] = (struct perf_file){.path = copy, .document = list};
    return 0;
}

// Takes the lists of a document. *known tells whether there was one.
static int take_lists(struct opening *opening, const struct perfmon_path *file, cJSON *document, bool *known) {
    const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(document, "Metrics");
    const char *pmu = cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(opening->rules, "roles"), file->role));
    cJSON *list = NULL;
    int r = 0;
    *known = cJSON_IsArray(metrics) || cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(document, "Events"));
    if (cJSON_IsArray(metrics)) {
        const struct perfmon_metrics_request request = {.file = file->path,
                                                        .metrics = metrics,
                                                        .rules = opening->rules,
                                                        .pmu = opening->rules  ? pmu
                                                               : file->role[0] ? file->role
                                                                               : NULL};
        r = perfmon_metrics_convert(&request, opening->errors, &list);
        r = r == 0 ? add_list(opening, file->path, list) : r;
    }
    if (r < 0 || !opening->rules || !cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(document, "Events")))
        return r;
    list = cJSON_DetachItemFromObjectCaseSensitive(document, "Events");
    r = adapt_events(list, pmu);
    if (r == 0)
        return add_list(opening, file->path, list);
    cJSON_Delete(list);
    return r;
}

static int take_document(struct opening *opening, const struct perfmon_path *file, const char *text, size_t length,
                         bool *known) {
    struct json_reader reader = {.file = file->path, .errors = opening->errors};
    cJSON *document = json_parse_value(&reader, text, length, PERF_DEPTH_MAX);
    if (!document)
        return reader.status == -EINVAL ? 0 : reader.status; // its mistake has been reported
    int r = take_lists(opening, file, document, known);
    cJSON_Delete(document);
    return r;
}

static int take_file(struct opening *opening, const struct perfmon_path *file, struct json_buffer *buffer,
                     bool *known) {
    size_t length;
    int r = json_read_again(file->path, PERF_FILE_MAX, opening->errors, buffer, &length);
    if (r == 0)
        r = take_document(opening, file, buffer->text, length, known);
    return r == -ENOMEM ? r : 0;
}

static int refuse_empty(const struct opening *opening, const char *path, bool known) {
    return errors_add(opening->errors, path, 0, 0, "%s",
                      known ? "holds no metrics"
                            : "is no file of intel/perfmon: an object with a list \"Events\" or \"Metrics\"");
}

static int load_rules(struct opening *opening, const char *trees) {
    struct json_reader reader = {.file = trees, .errors = opening->errors};
    opening->trees = trees ? json_load(&reader, TREES_FILE_MAX, TREES_DEPTH_MAX) : NULL;
    opening->rules = cJSON_GetObjectItemCaseSensitive(opening->trees, "perfmon");
    if (!trees || opening->rules)
        return 0;
    return opening->trees ? errors_add(opening->errors, trees, 0, 0, "has no \"perfmon\"") : reader.status;
}

static int begin(struct opening *opening, const char *name, const char *folder, size_t n_files) {
    opening->files.name = json_file_stem(name);
    opening->files.folder = strdup(folder);
    opening->files.files = calloc(2 * n_files, sizeof *opening->files.files); // a file may have both lists
    return opening->files.name && opening->files.folder && opening->files.files ? 0 : -ENOMEM;
}

static int end(struct opening *opening, int r, struct perf_files *out) {
    cJSON_Delete(opening->trees);
    if (r < 0)
        perf_files_close(&opening->files);
    else
        *out = opening->files;
    return r;
}

int perfmon_files_open(const char *path, const char *cpuid, const char *trees, struct errors *errors,
                       struct perf_files *out) {
    struct opening opening = {.errors = errors};
    struct perfmon_list list = {.n = 0};
    struct json_buffer buffer = {.text = NULL};
    bool known = false;
    int r = load_rules(&opening, trees);
    if (r == 0)
        r = perfmon_map_find(path, cpuid, errors, &list);
    if (r == 0)
        r = begin(&opening, list.name[0] != '\0' ? list.name : path, path, list.n);
    for (size_t i = 0; i < list.n && r == 0; i++) {
        bool one = false;
        if (trees || list.files[i].metrics || list.name[0] == '\0' || !strstr(list.files[i].path, "/events/"))
            r = take_file(&opening, &list.files[i], &buffer, &one);
        known = known || one;
    }
    if (r == 0 && opening.files.n == 0)
        r = refuse_empty(&opening, path, known);
    free(buffer.text);
    perfmon_list_deinit(&list);
    return end(&opening, r, out);
}

int perfmon_files_parse(const char *name, const char *text, size_t length, const char *trees, struct errors *errors,
                        struct perf_files *out) {
    struct opening opening = {.errors = errors};
    struct perfmon_path *file = calloc(1, sizeof *file);
    bool known = false;
    int r = file ? load_rules(&opening, trees) : -ENOMEM;
    if (r == 0)
        r = begin(&opening, name, name, 1);
    if (r == 0) {
        (void)strncpy(file->path, name, sizeof file->path - 1);
        r = take_document(&opening, file, text, length, &known);
    }
    if (r == 0 && opening.files.n == 0)
        r = refuse_empty(&opening, name, known);
    free(file);
    return end(&opening, r, out);
}
