// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/vendor/perf_json_private.h"
#include "core/base/array.h"

// Indexes the entries of all files by name, for the catalog's core PMU and the PMUs beside it.

// True if a list of trees.json contains the word.
static bool lists(const cJSON *list, const char *word) {
    const cJSON *item;
    cJSON_ArrayForEach(item, list) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, word) == 0)
            return true;
    }
    return false;
}

// Makes room for one more.
static int items_reserve(struct perf_reader *reader) {
    struct perf_item *items = array_grow(reader->items, reader->n, sizeof *items);
    if (!items)
        return -ENOMEM;
    reader->items = items;
    return 0;
}

void perf_item_read(const struct perf_reader *reader, const struct perf_item *item, struct perf_entry *out) {
    (void)perf_files_read(&reader->files, item->file, item->place, item->value, reader->errors, out); // it was valid
                                                                                                      // before
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

// The same metric may be in two files.
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

// True for another core PMU than the catalog's. A hybrid's files have several; by default the catalog describes the
// first.
static bool is_of_other_core(struct perf_reader *reader, const cJSON *core_pmus, const char *unit) {
    if (!unit || !lists(core_pmus, unit))
        return false;
    if (!reader->pmu)
        reader->pmu = unit;
    return strcmp(unit, reader->pmu) != 0;
}

// False for an entry of PMUs with other identifiers.
static bool fits_boxes(const struct perf_reader *reader, const char *compat) {
    char whole[PERF_GROUP_NAME_MAX];
    regex_t pattern;
    if (!reader->request->boxes || !compat)
        return true;
    (void)snprintf(whole, sizeof whole, "^(%s)$", compat);
    if (regcomp(&pattern, whole, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool fits = regexec(&pattern, reader->request->boxes->identifier, 0, NULL, 0) == 0;
    regfree(&pattern);
    return fits;
}

int perf_items_collect(struct perf_reader *reader) {
    struct perf_cursor cursor = {.next = NULL};
    struct perf_entry entry;
    const cJSON *core_pmus = cJSON_GetObjectItemCaseSensitive(reader->root.value, "core_pmus");
    reader->pmu = reader->request->boxes ? reader->request->boxes->pmu : reader->request->pmu;
    while (perf_files_next(&reader->files, &cursor, reader->errors, &entry)) {
        bool of_boxes = reader->request->boxes && entry.fields[PERF_METRIC_NAME]; // a core's may need their events
        if ((!of_boxes && is_of_other_core(reader, core_pmus, entry.fields[PERF_UNIT])) ||
            !fits_boxes(reader, entry.fields[PERF_COMPAT]))
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
