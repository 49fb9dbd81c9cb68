// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/recording/recording.h"
#include "core/recording/recording_catalog.h"
#include "core/recording/recording_memory.h"
#include "core/spec/catalog_builder.h"
#include "core/spec/catalog_same.h"
#include "core/tally/derive.h"

// A recording with valid checksums, as a hostile one has: each record is a kind, a length of two bytes and that many
// bytes. An accepted recording must be safe to derive from.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAME_BYTES = 9 }; // around a record's content

// Level 1 in two parts, so that plans may have composites.
static bool add_level1(struct catalog_builder *builder, struct fault *error) {
    static const char *const parts[][2] = {{"slots", "retired"}, {"slots", "stalled"}};
    const struct catalog_level1_text text = {.pipeline_slots = "slots", .width = 4};
    const struct catalog_metric_text retiring = {
        .name = "retiring", .formula = "retired / slots", .units = "share of slots"};
    const struct catalog_metric_text bound = {.name = "bound", .formula = "stalled / slots", .units = "share of slots"};
    return catalog_builder_add_metric(builder, &retiring, error) >= 0 &&
           catalog_builder_add_metric(builder, &bound, error) >= 0 &&
           catalog_builder_set_level1(builder, LEVEL1_USUAL, &text, error) >= 0 &&
           catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_RETIRING, "retiring", error) >= 0 &&
           catalog_builder_set_category(builder, LEVEL1_USUAL, CATEGORY_BACKEND_BOUND, "bound", error) >= 0 &&
           catalog_builder_add_part(builder, LEVEL1_USUAL, parts[0], 2, error) >= 0 &&
           catalog_builder_add_part(builder, LEVEL1_USUAL, parts[1], 2, error) >= 0;
}

static bool add_events(struct catalog_builder *builder, struct fault *error) {
    static const char *const names[] = {"cycles", "inst", "misses", "slots", "retired", "stalled"};
    static const char *const topdown[] = {"cycles", "inst"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (catalog_builder_add_event(builder, names[i], "", i + 1, error) < 0)
            return false;
    return catalog_builder_set_topdown(builder, topdown, 2, error) >= 0;
}

static struct catalog *make_catalog(void) {
    struct catalog_builder *builder;
    struct fault error;
    static const char *const metrics[] = {"ipc", "mpki", "retiring", "bound"};
    if (catalog_builder_new("fuzz", "v", "n", "m", "p", &builder) < 0)
        return NULL;
    const struct catalog_metric_text ipc = {.name = "ipc", .formula = "inst / cycles", .units = "per cycle"};
    const struct catalog_metric_text mpki = {.name = "mpki", .formula = "misses / inst", .units = "per instruction"};
    if (!add_events(builder, &error) || catalog_builder_add_metric(builder, &ipc, &error) < 0 ||
        catalog_builder_add_metric(builder, &mpki, &error) < 0 || !add_level1(builder, &error) ||
        catalog_builder_add_group(builder, "general", "", "", metrics, 4, &error) < 0 ||
        catalog_builder_check(builder, &error) < 0)
        abort();
    return catalog_builder_finish(builder);
}

struct deck {
    const struct catalog *catalog;
    struct snapshot_layout *layout;
    struct derive *derive;
};

static void deck_clear(struct deck *deck) {
    derive_free(deck->derive);
    snapshot_layout_unref(deck->layout);
    catalog_free((struct catalog *)(uintptr_t)deck->catalog);
    *deck = (struct deck){.catalog = NULL};
}

static void play_plan(struct deck *deck, const struct recording_record *record) {
    struct recording_plan plan;
    char missing[RECORDING_TEXT_MAX + 1];
    if (recording_get_plan(record, deck->catalog, missing, &plan) < 0)
        return;
    struct snapshot_layout *layout = snapshot_layout_new(plan.plan, plan.topology);
    struct derive *derive = layout ? derive_new(layout) : NULL;
    if (!derive || (deck->derive && derive_continue(derive, deck->derive) < 0))
        abort();
    derive_free(deck->derive);
    snapshot_layout_unref(deck->layout);
    deck->layout = layout;
    deck->derive = derive;
}

static void play_round(const struct deck *deck, const struct recording_record *record) {
    struct readings *readings;
    double seconds;
    if (!deck->layout ||
        recording_get_round(record, deck->layout->plan, deck->layout->topology, false, &seconds, &readings) < 0)
        return;
    for (size_t i = 0; i < readings->n_windows; i++) { // what fell never reaches a total
        const struct window *window = &readings->windows[i];
        bool data = window->result == WINDOW_COMPLETE || window->result == WINDOW_CONTENDED;
        for (size_t e = 0; data && e < deck->layout->plan->groups[window->group].n_events; e++)
            assert(window->counts[e] <= INT64_MAX);
    }
    struct snapshot *snapshot = snapshot_new(deck->layout);
    derive_round(deck->derive, readings, snapshot);
    // a readable record can be written, to the same bytes if these were the shortest
    struct recording_buffer again = {0};
    assert(recording_put_round(&again, readings, deck->layout->plan, seconds) == 0);
    recording_buffer_deinit(&again);
    snapshot_unref(snapshot);
    readings_free(readings);
}

// Readable facts can be written and read again.
static void play_facts(const struct deck *deck, const struct recording_record *record) {
    struct recording_facts facts;
    struct adapt_report *report;
    struct recording_record again;
    struct recording_buffer bytes = {0};
    char missing[RECORDING_TEXT_MAX + 1];
    size_t at = 0;
    if (recording_get_facts(record, deck->catalog, missing, &facts, &report) < 0)
        return;
    int r = recording_put_facts(&bytes, deck->catalog, &facts, report);
    assert(r == 0);
    for (size_t i = 0; report && i < report->n_decisions; i++) {
        char text[ADAPT_TEXT_MAX];
        adapt_decision_text(deck->catalog, &report->decisions[i], text, sizeof text);
    }
    adapt_report_free(report);
    r = recording_next(bytes.bytes, bytes.n, &at, &again);
    assert(r == 1);
    r = recording_get_facts(&again, deck->catalog, missing, &facts, &report);
    assert(r == 0);
    adapt_report_free(report);
    recording_buffer_deinit(&bytes);
}

static void play_header(const struct recording_record *record) {
    struct recording_header header;
    struct environment environment;
    if (recording_get_header(record, &header) < 0)
        return;
    recording_environment(&header, &environment);
    if (environment.has_event)
        (void)environment.has_event(environment.context, "cycles-t");
}

// A readable reading of the kernel's counts of memory can be written and read again.
static void play_memory(const struct recording_record *record) {
    struct host_memory *memory, *read;
    struct recording_buffer bytes = {0};
    struct recording_record again;
    size_t at = 0;
    if (recording_get_memory(record, &memory) < 0)
        return;
    int r = recording_put_memory(&bytes, memory);
    assert(r == 0);
    r = recording_next(bytes.bytes, bytes.n, &at, &again);
    assert(r == 1);
    r = recording_get_memory(&again, &read);
    assert(r == 0 && host_memory_same_series(memory, read));
    host_memory_unref(memory);
    host_memory_unref(read);
    recording_buffer_deinit(&bytes);
}

// A readable catalog can be written and read again, and is the same then. What follows is of it.
static void play_catalog(struct deck *deck, const struct recording_record *record) {
    struct environment environment;
    struct catalog *catalog, *read;
    struct recording_buffer bytes = {0};
    struct recording_record again;
    size_t at = 0;
    environment_init(&environment);
    if (recording_get_catalog(record, &environment, &catalog) < 0)
        return;
    int r = recording_put_catalog(&bytes, catalog);
    assert(r == 0);
    r = recording_next(bytes.bytes, bytes.n, &at, &again);
    assert(r == 1);
    r = recording_get_catalog(&again, &environment, &read);
    assert(r == 0 && catalog_same(catalog, read) && catalog_hash(catalog) == catalog_hash(read));
    catalog_free(read);
    recording_buffer_deinit(&bytes);
    deck_clear(deck);
    deck->catalog = catalog;
}

static void play(struct deck *deck, const struct recording_record *record);

// What boxes have is read as what cores have, and can be written and read again.
static void play_boxes(struct deck *deck, const struct recording_record *record) {
    char name[RECORDING_TEXT_MAX + 1], name_again[RECORDING_TEXT_MAX + 1];
    struct recording_record within, again;
    struct recording_buffer whole = {0}, bytes = {0};
    size_t at = 0;
    if (recording_get_boxes(record, name, &within) < 0)
        return;
    play(deck, &within);
    whole.bytes = (uint8_t *)record->bytes + record->n - within.n - FRAME_BYTES;
    whole.n = within.n + FRAME_BYTES;
    int r = recording_put_boxes(&bytes, name, &whole);
    assert(r == 0);
    r = recording_next(bytes.bytes, bytes.n, &at, &again);
    assert(r == 1 && again.kind == RECORDING_BOXES);
    r = recording_get_boxes(&again, name_again, &within);
    assert(r == 0 && strcmp(name, name_again) == 0);
    recording_buffer_deinit(&bytes);
}

static void play(struct deck *deck, const struct recording_record *record) {
    struct recording_pause pause;
    struct recording_definition definition;
    switch (record->kind) {
    case RECORDING_HEADER:
        play_header(record);
        break;
    case RECORDING_FACTS:
        play_facts(deck, record);
        break;
    case RECORDING_PLAN:
        play_plan(deck, record);
        break;
    case RECORDING_ROUND:
    case RECORDING_CORES:
        play_round(deck, record);
        break;
    case RECORDING_DEFINITION:
        if (recording_get_definition(record, &definition) == 0)
            recording_definition_deinit(&definition);
        break;
    case RECORDING_CATALOG:
        play_catalog(deck, record);
        break;
    case RECORDING_BOXES:
        play_boxes(deck, record);
        break;
    case RECORDING_MEMORY:
        play_memory(record);
        break;
    default:
        if (recording_get_pause(record, &pause) == 0 && deck->derive)
            derive_pause(deck->derive, pause.until_ns, pause.reason);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct deck deck = {.catalog = make_catalog()};
    struct recording_record record;
    size_t at = 0;
    while (recording_next(data, size, &at, &record) == 1) // as a file: almost always damaged
        play(&deck, &record);
    for (at = 0; at + 3 <= size;) {
        size_t n = (size_t)data[at + 1] | (size_t)data[at + 2] << 8;
        n = n < size - at - 3 ? n : size - at - 3;
        static const unsigned kinds[] = {RECORDING_HEADER, RECORDING_PLAN,  RECORDING_CORES,
                                         RECORDING_PAUSE,  RECORDING_FACTS, RECORDING_ROUND};
        bool is_kind = data[at] == RECORDING_BOXES || data[at] == RECORDING_DEFINITION ||
                       data[at] == RECORDING_MEMORY || data[at] == RECORDING_CATALOG;
        unsigned kind = is_kind ? data[at] : kinds[data[at] % 6];
        record = (struct recording_record){.kind = kind, .bytes = data + at + 3, .n = n};
        play(&deck, &record);
        at += 3 + n;
    }
    deck_clear(&deck);
    return 0;
}
