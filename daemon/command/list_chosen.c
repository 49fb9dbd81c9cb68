// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/list_chosen.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/pmu_named.h"
#include "daemon/uncore/uncore_chosen.h"

// The pattern by which a PMU and its like are chosen: uncore_foo_* for uncore_foo_0.
static void pattern_of(const char *pmu, char out[UNCORE_NAME_MAX + 2]) {
    size_t length = strlen(pmu);
    while (length > 0 && isdigit((unsigned char)pmu[length - 1]))
        length--;
    bool numbered = length > 1 && pmu[length] != '\0' && pmu[length - 1] == '_';
    (void)snprintf(out, UNCORE_NAME_MAX + 2, "%.*s%s", numbered ? (int)length : (int)strlen(pmu), pmu,
                   numbered ? "*" : "");
}

static bool is_known(const struct uncore_host *known, const char *pmu) {
    for (size_t i = 0; i < known->n; i++)
        for (size_t b = 0; b < known->found[i].boxes.n; b++)
            if (strcmp(known->found[i].boxes.boxes[b].pmu, pmu) == 0)
                return true;
    return false;
}

static void add_code(const struct catalog *catalog, struct table *table) {
    int index = -1;
    for (size_t e = 0; catalog && e < catalog->n_events; e++)
        index = catalog->events[e].kind == EVENT_COUNTED ? (int)e : index;
    if (index < 0) {
        for (int i = 0; i < 3; i++)
            table_text(table, NULL);
        return;
    }
    const struct pmu_event *code = &catalog->events[index].code;
    const uint64_t words[] = {code->config, code->config1, code->config2};
    for (int i = 0; i < 3; i++)
        table_format(table, "0x%" PRIx64, words[i]);
}

static int add_event(const struct host_roots *roots, const char *pmu, size_t n_boxes, const char *event,
                     struct table *table) {
    char pattern[UNCORE_NAME_MAX + 2], name[UNCORE_NAME_MAX];
    struct pmu_named_event read;
    struct catalog *catalog = NULL;
    if (pmu_named_event(roots, pmu, event, &read) < 0)
        return 0;
    int r = read.unusable ? 0 : uncore_chosen_catalog(roots, pmu, &event, 1, &catalog);
    if (r < 0)
        return r;
    if (!read.unusable && !catalog)
        read.unusable = "the kernel's format of this PMU cannot encode it";
    pattern_of(pmu, pattern);
    uncore_chosen_name(pattern, name, sizeof name);
    table_text(table, name);
    table_text(table, NULL);
    table_text(table, NULL);
    table_text(table, pattern);
    table_format(table, "%zu", n_boxes);
    table_text(table, event);
    add_code(catalog, table);
    table_text(table, read.unusable);
    table_text(table, NULL);
    if (!read.unusable && strcmp(read.unit.name, "bytes") == 0)
        table_format(table, "%.10g", read.unit.factor);
    else
        table_text(table, NULL);
    table_text(table, NULL);
    table_texts(table, NULL, 0);
    if (read.unusable)
        table_format(table, "cannot be chosen: %s", read.unusable);
    else
        table_format(table, "%s: uncore.pmus can choose it", read.unit.name);
    catalog_free(catalog);
    return 0;
}

static int add_events(const struct host_roots *roots, const char *pmu, size_t n_boxes, struct table *table) {
    char(*names)[PMU_NAMED_MAX] = NULL;
    int n = pmu_named_list(roots, pmu, "events", &names), r = n == -ENOMEM ? n : 0;
    for (int i = 0; i < n && r == 0; i++)
        r = add_event(roots, pmu, n_boxes, names[i], table);
    free(names);
    return r;
}

int list_chosen(const struct host_roots *roots, const struct uncore_host *known, struct table *table) {
    char pattern[UNCORE_NAME_MAX + 2], other[UNCORE_NAME_MAX + 2];
    struct uncore_boxes boxes;
    int r = uncore_find_named(roots, "*", &boxes);
    for (size_t b = 0; r == 0 && b < boxes.n; b++) {
        const char *pmu = boxes.boxes[b].pmu;
        bool first = true;
        size_t n = 0;
        pattern_of(pmu, pattern);
        for (size_t i = 0; i < boxes.n; i++) {
            pattern_of(boxes.boxes[i].pmu, other);
            bool same = strcmp(pattern, other) == 0;
            first = first && (!same || i >= b);
            n += same;
        }
        if (first && !is_known(known, pmu) && !pmu_named_unusable(roots, pmu))
            r = add_events(roots, pmu, n, table);
    }
    if (r == 0)
        uncore_boxes_deinit(&boxes);
    return r;
}
