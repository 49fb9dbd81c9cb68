// SPDX-License-Identifier: Apache-2.0
#include "config/spec/level1_splits.h"

static void add_part(const cJSON *names, struct catalog_builder *builder) {
    const char *known[CATALOG_SPLIT_EVENTS_MAX];
    struct fault fault;
    const cJSON *name;
    size_t n = 0;
    cJSON_ArrayForEach(name, names) {
        if (cJSON_IsString(name) && n < CATALOG_SPLIT_EVENTS_MAX &&
            catalog_find_event(catalog_builder_catalog(builder), name->valuestring) >= 0)
            known[n++] = name->valuestring;
    }
    if (n > 1) // a part beyond the limit is refused, which leaves the rest incomplete
        (void)catalog_builder_add_part(builder, LEVEL1_USUAL, known, n, &fault);
}

void level1_splits_offer(const cJSON *splits, struct catalog_builder *builder) {
    const cJSON *split, *part;
    const struct catalog_level1 *level1 = &catalog_builder_catalog(builder)->level1;
    if (!level1->present || level1->n_parts > 0)
        return;
    cJSON_ArrayForEach(split, splits) {
        cJSON_ArrayForEach(part, split) { add_part(part, builder); }
        if (catalog_builder_keep_split(builder))
            return;
    }
}
