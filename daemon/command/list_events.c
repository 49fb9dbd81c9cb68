// SPDX-License-Identifier: Apache-2.0
//
// An event in the form for the kernel, and the counters it needs.

#include <inttypes.h>
#include <stdio.h>

#include "core/plan/plan.h"
#include "daemon/command/list_events.h"

enum { NUMBERS_MAX = 256 };

const struct table_column list_event_columns[LIST_EVENT_COLUMNS] = {
    LIST_CORE_TYPE_COLUMN,
    {"name", "NAME", TABLE_TEXT},
    {"pmu", "PMU", TABLE_TEXT},
    {"config", "CONFIG", TABLE_TEXT},
    {"config1", "CONFIG1", TABLE_TEXT},
    {"config2", "CONFIG2", TABLE_TEXT},
    {"not_encoded", NULL, TABLE_TEXT},
    {"exclude", NULL, TABLE_TEXTS},
    {"terms", NULL, TABLE_TEXT},
    {"counters", "COUNTERS", TABLE_NUMBERS},
    {"takes", "TAKES", TABLE_NUMBER},
    {"fixed", "FIXED", TABLE_BOOL},
    {"fixed_counter", NULL, TABLE_NUMBER},
    {"register", "REGISTER", TABLE_TEXT},
    {"register_value", NULL, TABLE_TEXT},
    {"free", "FREE", TABLE_BOOL},
    {"resident", "RESIDENT", TABLE_BOOL},
    {"sampling_only", "SAMPLING ONLY", TABLE_BOOL},
    {"metrics", NULL, TABLE_NUMBER},
    {"unmeasurable", NULL, TABLE_TEXT},
    {"title", "TITLE", TABLE_TEXT},
};

static void add_exclude(unsigned exclude, struct table *table) {
    static const char *const names[] = {"user", "kernel", "hypervisor"};
    const char *texts[3];
    size_t n = 0;
    for (unsigned i = 0; i < 3; i++)
        if (exclude & 1u << i)
            texts[n++] = names[i];
    table_texts(table, texts, n);
}

// Adds the general counters that can count it; no value if all can.
static void add_counters(const struct event_need *need, struct table *table) {
    char text[NUMBERS_MAX];
    int length = 0;
    for (unsigned i = 0; i < EVENT_COUNTERS_MAX; i++)
        if (need->counters >> i & 1)
            length += snprintf(text + length, sizeof text - (size_t)length, "%u\n", i);
    table_text(table, length > 0 ? text : NULL);
}

static void add_register(const struct catalog *catalog, const struct event_need *need, struct table *table) {
    if (need->reg == 0) {
        table_text(table, NULL);
        table_text(table, NULL);
        return;
    }
    table_text(table, catalog->registers[need->reg - 1].term);
    table_format(table, "0x%" PRIx64, need->reg_value);
}

// The number of metrics that read it.
static unsigned count_metrics(const struct catalog *catalog, unsigned event) {
    unsigned n = 0;
    for (size_t m = 0; m < catalog->n_metrics; m++)
        for (size_t v = 0; v < catalog->metrics[m].formula->n_variables; v++)
            n += catalog->metrics[m].formula->variables[v] == event;
    return n;
}

static void add_code(const struct catalog_event *event, struct table *table) {
    const uint64_t words[] = {event->code.config, event->code.config1, event->code.config2};
    for (int i = 0; i < 3; i++) {
        if (event->uncoded)
            table_text(table, NULL);
        else
            table_format(table, "0x%" PRIx64, words[i]);
    }
    table_text(table, event->uncoded);
}

static void add_event(const struct catalog *catalog, unsigned index, struct table *table) {
    const struct catalog_event *event = &catalog->events[index];
    const struct event_need *need = &event->need;
    table_text(table, event->name);
    table_text(table, catalog->pmus[event->code.pmu]);
    add_code(event, table);
    add_exclude(event->code.exclude, table);
    table_text(table, event->terms);
    add_counters(need, table);
    table_format(table, "%u", need->free ? 0 : need->takes > 1 ? need->takes : 1);
    table_bool(table, event->fixed);
    if (need->fixed >= 0)
        table_format(table, "%d", need->fixed);
    else
        table_text(table, NULL);
    add_register(catalog, need, table);
    table_bool(table, need->free);
    table_bool(table, event->topdown);
    table_bool(table, event->sampling_only);
    table_format(table, "%u", count_metrics(catalog, index));
    char reason[PLAN_REASON_MAX];
    table_text(table, catalog_event_explain(catalog, index, reason, sizeof reason) ? reason : NULL);
    table_text(table, event->title);
}

void list_events(const struct catalog *catalog, const char *core_type, struct table *table) {
    for (unsigned e = 0; e < catalog->n_events; e++) {
        if (catalog->events[e].kind != EVENT_COUNTED)
            continue;
        list_begin_row(core_type, table);
        add_event(catalog, e, table);
    }
}
