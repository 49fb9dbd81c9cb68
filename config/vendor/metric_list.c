// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/metric_list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/json/json_reader.h"
#include "config/spec/spec_family.h"
#include "config/spec/spec_json.h"
#include "config/vendor/perfmon_files.h"
#include "core/base/array.h"

enum { COUNTS_FILE_MAX = 64 << 20 };

static int list_add(struct metric_list *list, struct evaluation_metric metric, double scale) {
    struct evaluation_metric *metrics = array_grow(list->metrics, list->n, sizeof *metrics);
    if (!metrics)
        return -ENOMEM;
    list->metrics = metrics;
    double *scales = array_grow(list->scales, list->n, sizeof *scales);
    if (!scales)
        return -ENOMEM;
    list->scales = scales;
    list->metrics[list->n] = metric;
    list->scales[list->n++] = scale;
    return 0;
}

// True for a valid name: names become keys of the output.
static bool name_is_sound(const char *name) {
    for (; *name != '\0'; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            return false;
    return true;
}

static int add_perf(struct metric_list *list, const struct perf_entry *entry, struct errors *errors) {
    const char *name = entry->fields[PERF_METRIC_NAME], *text = entry->fields[PERF_METRIC_EXPR];
    const char *scale_unit = entry->fields[PERF_SCALE_UNIT], *pmu = entry->fields[PERF_UNIT], *unit;
    double scale = 1;
    if (!name && !text)
        return 0;
    if (!name || !text) {
        perf_entry_fail(entry, errors, name ? "the metric has no MetricExpr" : "the metric has no MetricName");
        return 0;
    }
    if (!name_is_sound(name)) {
        perf_entry_fail(entry, errors, "its name holds a control character");
        return 0;
    }
    if (scale_unit && !perf_scale_unit(scale_unit, &scale, &unit)) {
        perf_entry_fail(entry, errors, "its ScaleUnit '%.40s' does not begin with a number", scale_unit);
        scale = NAN;
    }
    if (list->n == METRIC_LIST_MAX)
        return errors_add(errors, entry->file, 0, 0, "there are more than %d metrics", METRIC_LIST_MAX);
    return list_add(list, (struct evaluation_metric){.name = name, .pmu = pmu ? pmu : "", .text = text}, scale);
}

// Linux' files, or those of intel/perfmon as such.
static int load_perf(const char *path, enum spec_format format, const char *cpuid, struct errors *errors,
                     struct metric_list *list) {
    struct perf_cursor cursor = {.next = NULL};
    struct perf_entry entry;
    int r = format == SPEC_FORMAT_PERFMON ? perfmon_files_open(path, cpuid, NULL, errors, &list->files)
                                          : perf_files_open(path, cpuid, errors, &list->files);
    bool any = false;
    for (; r == 0 && perf_files_next(&list->files, &cursor, errors, &entry); any = true)
        r = add_perf(list, &entry, errors);
    if (r == 0 && !any && errors->n == 0)
        r = errors_add(errors, path, 0, 0, "holds no metric%s",
                       spec_format_guess(path, errors) == SPEC_FORMAT_PERFMON
                           ? " in the form of perf: --format perfmon reads it"
                           : "");
    return r;
}

static int add_arm(struct json_reader *reader, struct metric_list *list) {
    const struct json_node root = json_root(reader, list->document);
    struct json_node metrics;
    const cJSON *value;
    int r = 0;
    if (!json_get_object(&root, "metrics", JSON_REQUIRED, &metrics))
        return reader->status;
    cJSON_ArrayForEach(value, metrics.value) {
        const struct json_node metric = json_child(&metrics, value, 0);
        const char *text;
        if (r < 0 || !json_is_object(&metric) || !json_get_text(&metric, "formula", JSON_REQUIRED, &text))
            continue;
        if (!name_is_sound(value->string)) {
            json_fail(&metric, "its name holds a control character");
            continue;
        }
        r = list->n < METRIC_LIST_MAX
                ? list_add(list, (struct evaluation_metric){.name = value->string, .pmu = "", .text = text}, 1)
                : errors_add(reader->errors, reader->file, 0, 0, "there are more than %d metrics", METRIC_LIST_MAX);
    }
    return reader->status == -ENOMEM ? -ENOMEM : r;
}

// Arm's files, or a shipped spec with its family.
static int load_arm(const char *path, const char *cpuid, struct errors *errors, struct metric_list *list) {
    char file[SPEC_PATH_MAX];
    struct json_reader reader = {.file = file, .errors = errors};
    struct spec_family family;
    int r = spec_arm_find(path, cpuid, errors, file);
    if (r < 0)
        return r;
    list->document = json_load(&reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    if (!list->document)
        return reader.status;
    r = spec_family_merge(&reader, list->document, NULL, &family);
    if (r == 0)
        r = add_arm(&reader, list);
    spec_family_deinit(&family);
    return r;
}

int metric_list_load(const char *path, enum spec_format format, const char *cpuid, struct errors *errors,
                     struct metric_list *out) {
    struct metric_list list = {.n = 0};
    if (format == SPEC_FORMAT_ANY)
        format = spec_format_guess(path, errors);
    if (format == SPEC_FORMAT_ANY)
        return -EINVAL;
    int r = format == SPEC_FORMAT_ARM ? load_arm(path, cpuid, errors, &list)
                                      : load_perf(path, format, cpuid, errors, &list);
    if (r < 0)
        metric_list_deinit(&list);
    else
        *out = list;
    return r == -ENOENT ? -EINVAL : r; // nothing to fall back on
}

void metric_list_deinit(struct metric_list *list) {
    free(list->metrics);
    free(list->scales);
    perf_files_close(&list->files);
    cJSON_Delete(list->document);
    *list = (struct metric_list){.n = 0};
}

int metric_counts_load(const char *path, struct errors *errors, struct evaluation_counts *out) {
    struct evaluation_counts counts = {.n = 0};
    struct json_reader reader = {.file = path, .errors = errors};
    cJSON *document = json_load(&reader, COUNTS_FILE_MAX, 2);
    if (!document)
        return reader.status;
    const struct json_node root = json_root(&reader, document);
    const cJSON *value;
    int r = 0;
    cJSON_ArrayForEach(value, document) {
        const struct json_node node = json_child(&root, value, 0);
        double number = cJSON_IsBool(value) ? cJSON_IsTrue(value) : cJSON_IsNull(value) ? NAN : value->valuedouble;
        if (!cJSON_IsNumber(value) && !cJSON_IsNull(value) && !cJSON_IsBool(value))
            json_fail(&node, "must be a number, or null where the event was not counted");
        else if (r == 0)
            r = evaluation_counts_add(&counts, value->string, number);
    }
    r = r < 0 ? r : reader.status;
    cJSON_Delete(document);
    if (r < 0)
        evaluation_counts_deinit(&counts);
    else
        *out = counts;
    return r;
}
