// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_EVENTS_H
#define TOPDOWND_DAEMON_COMMAND_LIST_EVENTS_H

// The list of events, with the arguments for perf_event_open.

#include "core/spec/catalog.h"
#include "exporters/text/table.h"

// The first column of the lists of one spec, only on a host with several core types.
#define LIST_CORE_TYPE_COLUMN                                                                                          \
    { "core_type", "CORE TYPE", TABLE_TEXT }

// Begins a row of one spec's list: with the core type, or NULL if the list has no such column.
static inline void list_begin_row(const char *core_type, struct table *table) {
    if (core_type)
        table_text(table, core_type);
}

// One row for each event that a PMU counts.
enum { LIST_EVENT_COLUMNS = 21 };
extern const struct table_column list_event_columns[LIST_EVENT_COLUMNS];
void list_events(const struct catalog *catalog, const char *core_type, struct table *table);

#endif
