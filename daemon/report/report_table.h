// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_TABLE_H
#define TOPDOWND_DAEMON_REPORT_REPORT_TABLE_H

// Metrics of a report as a table for people. What has no value is counted and named once below it.

#include "daemon/report/report_number.h"
#include "exporters/text/table.h"

struct report_table {
    struct table table;
    const struct screen *screen; // borrowed
    bool scopes;                 // with a column that says of which scope a row is
    size_t n_absent;
    const char *why; // the first is absent
    bool various;    // and others for other reasons
};

void report_table_init(struct report_table *table, const struct screen *screen, bool scopes);
void report_table_add(struct report_table *table, const struct report *report, const struct report_row *row);

// Appends an empty line and the table, or nothing if no row has a value, and frees it.
void report_table_end(struct report_table *table, struct text *out);

#endif
