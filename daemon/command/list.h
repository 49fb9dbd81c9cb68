// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_H
#define TOPDOWND_DAEMON_COMMAND_LIST_H

// `topdownd list cpus|groups|metrics|events`: what is known, as a table or as JSON, of this host's CPU or of any other
// that has a spec. Needs no PMU and no privileges.

#include "core/spec/catalog.h"
#include "exporters/view/table.h"

// Runs the command, whose words follow "list" in argv[0]. Returns the exit status.
int list_main(int argc, char **argv);

void list_help(void);

// Begins a row of one spec's list: with the core type, or NULL where the list has no such column.
#define LIST_CORE_TYPE_COLUMN                                                                                          \
    { "core_type", "CORE TYPE", TABLE_TEXT }
void list_begin_row(const char *core_type, struct table *table);

// One row for each event that a PMU counts, with what perf_event_open would be given.
enum { LIST_EVENT_COLUMNS = 20 };
extern const struct table_column list_event_columns[LIST_EVENT_COLUMNS];
void list_events(const struct catalog *catalog, const char *core_type, struct table *table);

#endif
