// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_table.h"

#include <math.h>
#include <string.h>

#include "core/spec/base_unit.h"

static const struct table_column COLUMNS[] = {
    {"scope", "SCOPE", TABLE_TEXT},   {"metric", "METRIC", TABLE_TEXT},
    {"value", "VALUE", TABLE_NUMBER}, {"interval", "95 % INTERVAL", TABLE_TEXT},
    {"unit", "UNIT", TABLE_TEXT},
};

void report_table_init(struct report_table *table, const struct screen *screen, bool scopes) {
    *table = (struct report_table){
        .table = {.columns = COLUMNS + !scopes, .n_columns = sizeof COLUMNS / sizeof *COLUMNS - !scopes},
        .screen = screen,
        .scopes = scopes};
}

static void put_interval(struct report_table *table, const struct report_row *row, bool share) {
    double half = (row->high - row->low) / 2;
    char number[REPORT_NUMBER_MAX];
    (void)report_number_write(number, half, REPORT_NUMBER_DIGITS_OF_INTERVAL);
    if (!isfinite(half))
        table_text(&table->table, NULL);
    else if (row->exact)
        table_text(&table->table, "exact");
    else if (share)
        table_format(&table->table, "%s%.2f", report_number_plus_minus(table->screen), 100 * half);
    else
        table_format(&table->table, "%s%s", report_number_plus_minus(table->screen), number);
}

static void put_row(struct report_table *table, const struct report *report, const struct report_row *row) {
    char unit[CATALOG_UNIT_MAX], number[REPORT_NUMBER_MAX];
    bool share = report_number_is_share(row->metric);
    report_row_unit(report, row, unit, sizeof unit);
    const char *whole = base_unit_whole(unit);
    (void)report_number_write(number, row->value, REPORT_NUMBER_DIGITS);
    if (table->scopes && row->scope == REPORT_HOST)
        table_text(&table->table, report_scope_of(report, row->scope));
    else if (table->scopes)
        table_format(&table->table, "%s %u", report_scope_of(report, row->scope), row->id);
    table_text(&table->table, row->metric->export_name);
    if (share)
        table_format(&table->table, "%.2f %%", 100 * row->value);
    else
        table_text(&table->table, number);
    put_interval(table, row, share);
    table_text(&table->table, whole ? whole : unit);
}

void report_table_add(struct report_table *table, const struct report *report, const struct report_row *row) {
    if (isfinite(row->value)) {
        put_row(table, report, row);
        return;
    }
    table->various = table->various || (table->why && strcmp(table->why, row->reason) != 0);
    table->why = table->why ? table->why : row->reason;
    table->n_absent++;
}

void report_table_end(struct report_table *table, struct text *out) {
    struct text rows = {0};
    if (table->table.n_cells > 0 && table_print(&table->table, &rows) == 0) {
        text_string(out, "\n");
        text_append(out, rows.data, rows.length);
    }
    if (table->n_absent > 0)
        text_format(out, "%zu more %s not known: %s\n", table->n_absent, table->n_absent == 1 ? "is" : "are",
                    table->various ? "--json says why" : table->why);
    out->failed = out->failed || rows.failed;
    text_free(&rows);
    table_deinit(&table->table);
}
