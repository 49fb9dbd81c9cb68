// SPDX-License-Identifier: Apache-2.0
#include "config/spec/level1_splits.h"

static void add_part(const cJSON *names, struct catalog *catalog) {
    const char *known[CATALOG_SPLIT_EVENTS_MAX];
    struct fault fault;
    const cJSON *name;
    size_t n = 0;
    cJSON_ArrayForEach(name, names) {
        if (cJSON_IsString(name) && n < CATALOG_SPLIT_EVENTS_MAX && catalog_find_event(catalog, name->valuestring) >= 0)
            known[n++] = name->valuestring;
    }
    if (n > 1) // one more than a split may have is refused; the rest is not whole then
        (void)catalog_add_level1_part(catalog, &catalog->level1, known, n, &fault);
}

void level1_splits_offer(const cJSON *splits, struct catalog *catalog) {
    const cJSON *split, *part;
    if (!catalog->level1.present || catalog->level1.n_parts > 0)
        return;
    cJSON_ArrayForEach(split, splits) {
        cJSON_ArrayForEach(part, split) { add_part(part, catalog); }
        if (catalog_keep_level1_split(catalog, &catalog->level1))
            return;
    }
}
