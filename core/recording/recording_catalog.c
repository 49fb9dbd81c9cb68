// SPDX-License-Identifier: Apache-2.0
#include "core/recording/recording_catalog.h"

#include <string.h>

#include "core/recording/recording_bytes.h"

// Entries refer to each other by index, and each stands after those that it refers to, as in the catalog. Event 0 is in
// every catalog and is not stored.
//
// A text here may be of any length, as help and formulas are, and may have several lines.

static void put_text(struct recording_buffer *out, const char *text) {
    size_t n = text ? strlen(text) : 0;
    bytes_put_varint(out, n);
    for (size_t i = 0; i < n; i++) { // readers refuse other control characters
        bool plain = (unsigned char)text[i] >= ' ' ? text[i] != 0x7f : text[i] == '\n' || text[i] == '\t';
        bytes_put(out, plain ? &text[i] : "?", 1);
    }
}

static void put_indexes(struct recording_buffer *out, const unsigned *indexes, size_t n) {
    bytes_put_varint(out, n);
    for (size_t i = 0; i < n; i++)
        bytes_put_varint(out, indexes[i]);
}

static void put_product(struct recording_buffer *out, const struct catalog *catalog) {
    const struct catalog_product *product = &catalog->product;
    put_text(out, product->spec);
    put_text(out, product->vendor);
    put_text(out, product->name);
    put_text(out, product->microarchitecture);
    put_text(out, product->pmu);
    bytes_put_varint(out, product->group_events);
    bytes_put_varint(out, product->chosen);
    bytes_put_varint(out, catalog->n_pmus - 1);
    for (size_t i = 1; i < catalog->n_pmus; i++)
        put_text(out, catalog->pmus[i]);
    bytes_put_varint(out, catalog->n_registers);
    for (size_t i = 0; i < catalog->n_registers; i++) {
        put_text(out, catalog->registers[i].term);
        bytes_put_varint(out, catalog->registers[i].values);
    }
}

static void put_event(struct recording_buffer *out, const struct catalog_event *event) {
    const struct event_need *need = &event->need;
    bytes_put_varint(out, event->kind);
    put_text(out, event->name);
    put_text(out, event->title);
    put_text(out, event->terms);
    put_text(out, event->uncoded);
    bytes_put_varint(out, event->code.pmu);
    bytes_put_varint(out, event->code.config);
    bytes_put_varint(out, event->code.config1);
    bytes_put_varint(out, event->code.config2);
    bytes_put_varint(out, event->code.exclude);
    bytes_put_varint(out, need->counters);
    bytes_put_varint(out, need->takes);
    bytes_put_signed(out, need->fixed);
    bytes_put_varint(out, need->reg);
    bytes_put_varint(out, need->reg_value);
    unsigned flags = need->free ? RECORDING_EVENT_FREE : 0;
    flags |= need->exclusive ? RECORDING_EVENT_EXCLUSIVE : 0;
    flags |= event->fixed ? RECORDING_EVENT_FIXED : 0;
    flags |= event->sampling_only ? RECORDING_EVENT_SAMPLING_ONLY : 0;
    flags |= event->may_be_zero ? RECORDING_EVENT_MAY_BE_ZERO : 0;
    flags |= event->must_count ? RECORDING_EVENT_MUST_COUNT : 0;
    flags |= event->known_dead ? RECORDING_EVENT_DEAD : 0;
    bytes_put_varint(out, flags);
    if (event->known_dead)
        put_text(out, event->known_dead);
}

static void put_events(struct recording_buffer *out, const struct catalog *catalog) {
    bytes_put_varint(out, catalog->n_events - 1);
    for (size_t e = 1; e < catalog->n_events; e++)
        put_event(out, &catalog->events[e]);
    bytes_put_varint(out, catalog->names.n_aliases);
    for (size_t i = 0; i < catalog->names.n_aliases; i++) {
        put_text(out, catalog->names.aliases[i]);
        bytes_put_varint(out, (unsigned)catalog_find_event(catalog, catalog->names.aliases[i]));
    }
    bytes_put_varint(out, catalog->general_counters);
    put_indexes(out, catalog->topdown, catalog->n_topdown);
    bytes_put_signed(out, catalog->watchdog_event);
}

static void put_metric(struct recording_buffer *out, const struct catalog_metric *metric) {
    put_text(out, metric->name);
    put_text(out, metric->vendor);
    put_text(out, metric->export_name);
    put_text(out, metric->title);
    put_text(out, metric->help);
    put_text(out, metric->units);
    put_text(out, metric->formula_text);
    put_text(out, metric->unmeasurable);
    put_text(out, metric->threshold_text);
    put_text(out, metric->definition);
    put_text(out, metric->meaning);
    put_text(out, metric->rate_advice);
    bytes_put_double(out, metric->export_scale);
    bytes_put_double(out, metric->rate_threshold);
    bytes_put_signed(out, metric->parent);
    bytes_put_signed(out, metric->stands_for);
    bool included = metric->included_in >= 0;
    bytes_put_varint(out, metric->constraint + (included ? RECORDING_METRIC_INCLUDED : 0));
    if (included)
        bytes_put_varint(out, (unsigned)metric->included_in);
    bytes_put_varint(out, metric->waits);
    bytes_put_varint(out, metric->traffic);
}

static void put_groups(struct recording_buffer *out, const struct catalog *catalog) {
    bytes_put_varint(out, catalog->n_groups);
    for (size_t g = 0; g < catalog->n_groups; g++) {
        const struct catalog_group *group = &catalog->groups[g];
        put_text(out, group->name);
        put_text(out, group->title);
        put_text(out, group->help);
        put_indexes(out, group->metrics, group->n_metrics);
        bytes_put_varint(out, group->default_place);
    }
}

static void put_nodes(struct recording_buffer *out, const struct catalog *catalog) {
    bytes_put_varint(out, catalog->n_nodes);
    for (size_t i = 0; i < catalog->n_nodes; i++) {
        const struct catalog_node *node = &catalog->nodes[i];
        bytes_put_varint(out, node->metric);
        bytes_put_varint(out, node->root);
        bytes_put_varint(out, node->n_next);
        for (size_t k = 0; k < node->n_next; k++)
            put_text(out, node->next[k].name);
        put_indexes(out, node->samples, node->n_samples);
    }
}

static void put_level1(struct recording_buffer *out, const struct catalog_level1 *level1, bool conclusions) {
    bytes_put_varint(out, level1->present + (conclusions ? RECORDING_LEVEL1_CONCLUSIONS : 0U));
    if (!level1->present)
        return;
    put_text(out, level1->pipeline_slots_text);
    bytes_put_double(out, level1->width);
    bytes_put_varint(out, level1->per_thread);
    for (size_t i = 0; level1->per_thread && i < THREAD_SLOTS_N; i++)
        put_text(out, level1->thread_texts[i]);
    bytes_put_signed(out, level1->contention);
    bytes_put_varint(out, level1->n_categories);
    for (size_t i = 0; i < level1->n_categories; i++) {
        bytes_put_varint(out, level1->categories[i].category);
        bytes_put_varint(out, level1->categories[i].metric);
    }
    bytes_put_varint(out, level1->n_parts);
    for (size_t i = 0; i < level1->n_parts; i++)
        put_indexes(out, level1->parts[i].events, level1->parts[i].n);
}

// What follows from metrics, each with its place: 0 is computes_well, then the headings.
static void put_conclusion(struct recording_buffer *out, unsigned place, const struct catalog_conclusion *conclusion) {
    if (!conclusion->formula)
        return;
    bytes_put_varint(out, place);
    put_text(out, conclusion->formula_text);
}

static size_t n_conclusions(const struct catalog *catalog) {
    size_t n = catalog->computes_well.formula ? 1 : 0;
    for (size_t i = 0; i < BOTTLENECK_N; i++)
        n += catalog->bottlenecks[i].formula ? 1 : 0;
    return n;
}

// Nothing if there is nothing, so that earlier versions can read the catalog.
static void put_conclusions(struct recording_buffer *out, const struct catalog *catalog) {
    size_t n = n_conclusions(catalog);
    if (n == 0)
        return;
    bytes_put_varint(out, n);
    put_conclusion(out, 0, &catalog->computes_well);
    for (unsigned i = 0; i < BOTTLENECK_N; i++)
        put_conclusion(out, i + 1, &catalog->bottlenecks[i]);
}

int recording_put_catalog(struct recording_buffer *out, const struct catalog *catalog) {
    size_t begin = bytes_begin(out, RECORDING_CATALOG);
    put_product(out, catalog);
    put_events(out, catalog);
    bytes_put_varint(out, catalog->n_metrics);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        put_metric(out, &catalog->metrics[m]);
    put_groups(out, catalog);
    put_nodes(out, catalog);
    put_level1(out, &catalog->level1, n_conclusions(catalog) > 0);
    put_conclusions(out, catalog);
    return bytes_end(out, begin);
}
