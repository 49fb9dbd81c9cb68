// SPDX-License-Identifier: Apache-2.0
#include "core/spec/catalog_entry.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

char *catalog_entry_copy(const char *text) { return strdup(text ? text : ""); }

void *catalog_entry_grow(void **array, size_t n, size_t size) {
    void *larger = array_grow(*array, n, size);
    if (!larger)
        return NULL;
    *array = larger;
    void *item = (char *)*array + n * size;
    memset(item, 0, size);
    return item;
}

// Names appear in labels, paths in messages and family names, so they must be printable ASCII without quotes and
// backslashes.
static bool name_is_sound(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > CATALOG_NAME_MAX)
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c) || *c == '"' || *c == '\\')
            return false;
    return true;
}

int catalog_entry_check_name(const char *kind, const char *name, bool exists, struct fault *fault) {
    if (!name_is_sound(name))
        return fault_set(fault, "the %s name '%.40s' is empty, too long or has characters other than printable ASCII",
                         kind, name);
    if (exists)
        return fault_set(fault, "the %s %s stands twice: remove one", kind, name);
    return 0;
}

void catalog_entry_free_event(struct catalog_event *event) {
    free(event->known_dead);
    free(event->uncoded);
    free(event->terms);
    free(event->title);
    free(event->name);
}

void catalog_entry_free_metric(struct catalog_metric *metric) {
    free(metric->rate_advice);
    free(metric->vendor);
    free(metric->definition);
    free(metric->meaning);
    formula_free(metric->threshold);
    free(metric->threshold_text);
    free(metric->unmeasurable);
    formula_free(metric->formula);
    free(metric->formula_text);
    free(metric->units);
    free(metric->help);
    free(metric->title);
    free(metric->export_name);
    free(metric->name);
}

void catalog_entry_free_group(struct catalog_group *group) {
    free(group->metrics);
    free(group->help);
    free(group->title);
    free(group->name);
}

void catalog_entry_free_node(struct catalog_node *node) {
    for (size_t i = 0; i < node->n_next; i++)
        free(node->next[i].name);
    free(node->next);
    free(node->samples);
}

void catalog_entry_free_level1(struct catalog_level1 *level1) {
    free(level1->metrics);
    for (int i = 0; i < THREAD_SLOTS_N; i++) {
        formula_free(level1->thread[i]);
        free(level1->thread_texts[i]);
    }
    formula_free(level1->pipeline_slots);
    free(level1->pipeline_slots_text);
}
