// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/spec/catalog.h"

// FNV-1a over the texts of events, formulas, metric groups and level 1, each with its terminator, and over the numbers
// beside them. Titles and descriptions are left out: they affect no value.

static uint64_t add_text(uint64_t hash, const char *text) { return hash_bytes(hash, text, strlen(text) + 1); }

static uint64_t add_number(uint64_t hash, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    for (unsigned shift = 0; shift < 64; shift += 8)
        hash = hash_byte(hash, (uint8_t)(bits >> shift));
    return hash;
}

static uint64_t add_level1(uint64_t hash, const struct catalog_level1 *level1) {
    if (!level1->present)
        return add_number(hash, 0);
    hash = add_text(hash, level1->pipeline_slots_text);
    hash = add_number(hash, level1->width);
    hash = add_number(hash, level1->per_thread);
    for (int i = 0; level1->per_thread && i < THREAD_SLOTS_N; i++)
        hash = add_text(hash, level1->thread_texts[i]);
    for (size_t i = 0; i < level1->n_categories; i++) {
        hash = add_number(hash, level1->categories[i].category);
        hash = add_number(hash, level1->categories[i].metric);
    }
    return hash;
}

uint64_t catalog_hash(const struct catalog *catalog) {
    uint64_t hash = HASH_BEGIN;
    for (size_t e = 0; e < catalog->n_events; e++) {
        hash = add_text(hash, catalog->events[e].name);
        hash = add_text(hash, catalog->events[e].terms);
        if (catalog->events[e].may_be_zero)
            hash = add_number(hash, 1);
    }
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        const struct catalog_metric *metric = &catalog->metrics[m];
        hash = add_text(hash, metric->name);
        hash = add_text(hash, metric->formula_text);
        hash = add_number(hash, metric->export_scale);
        hash = add_number(hash, metric->rate_threshold);
    }
    for (size_t g = 0; g < catalog->n_groups; g++) {
        hash = add_text(hash, catalog->groups[g].name);
        for (size_t i = 0; i < catalog->groups[g].n_metrics; i++)
            hash = add_number(hash, catalog->groups[g].metrics[i]);
    }
    return add_level1(hash, &catalog->level1);
}
