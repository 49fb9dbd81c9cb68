// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_TEXT_TABLE_H
#define TOPDOWND_EXPORTERS_TEXT_TABLE_H

// A table, printed as aligned text for people or as a JSON array of objects. Filled cell by cell, row by row.

#include <stdbool.h>
#include <stddef.h>

#include "exporters/text/text.h"

enum table_kind {
    TABLE_TEXT,
    TABLE_NUMBER,  // JSON: verbatim
    TABLE_BOOL,    // "true" or "false"; text shows "yes" or nothing
    TABLE_TEXTS,   // any number of texts, each ended by '\n'
    TABLE_NUMBERS, // likewise
};

struct table_column {
    const char *key;     // in JSON
    const char *heading; // NULL: only in JSON
    enum table_kind kind;
};

struct table {
    const struct table_column *columns; // borrowed
    size_t n_columns;
    struct text cells; // each starts with a byte that tells if it has a value, and ends with a zero byte
    size_t n_cells;
};

// Fills the next cell. A NULL text means no value: null, or '-'.
void table_text(struct table *table, const char *text);
void table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_bool(struct table *table, bool value);
void table_texts(struct table *table, const char *const *texts, size_t n);

// Append the table, whose rows must be complete. Return 0 or -ENOMEM.
int table_print(const struct table *table, struct text *out);
int table_print_json(const struct table *table, struct text *out);

void table_deinit(struct table *table);

#endif
