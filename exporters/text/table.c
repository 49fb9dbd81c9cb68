// SPDX-License-Identifier: Apache-2.0
#include "exporters/text/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/text/json_writer.h"

enum { FORMAT_MAX = 64, COLUMNS_MAX = 32 };

void table_text(struct table *table, const char *text) {
    text_append(&table->cells, text ? "=" : "-", 1);
    text_append(&table->cells, text ? text : "", text ? strlen(text) + 1 : 1);
    table->n_cells++;
}

void table_format(struct table *table, const char *format, ...) {
    char text[FORMAT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    table_text(table, text);
}

void table_bool(struct table *table, bool value) { table_text(table, value ? "true" : "false"); }

void table_texts(struct table *table, const char *const *texts, size_t n) {
    text_append(&table->cells, "=", 1);
    for (size_t i = 0; i < n; i++) {
        text_string(&table->cells, texts[i]);
        text_append(&table->cells, "\n", 1);
    }
    text_append(&table->cells, "", 1);
    table->n_cells++;
}

// ---- for people ----

// Writes a cell on one line: lists with commas, and no terminal control characters.
static void put_shown(struct text *out, enum table_kind kind, const char *cell) {
    const char *text = cell + 1;
    size_t length = strlen(text);
    if (cell[0] == '-' || (kind == TABLE_BOOL && strcmp(text, "false") == 0) || length == 0) {
        text_string(out, "-");
    } else if (kind == TABLE_BOOL) {
        text_string(out, "yes");
    } else {
        bool list = kind == TABLE_TEXTS || kind == TABLE_NUMBERS;
        for (size_t i = 0; i < length; i++) {
            if (list && text[i] == '\n')
                text_string(out, i + 1 < length ? ", " : "");
            else
                text_append(out, (unsigned char)text[i] < ' ' || text[i] == 0x7f ? "?" : &text[i], 1);
        }
    }
}

// Width in characters, not bytes.
static size_t width_of(const char *text, size_t length) {
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

static const char *next_cell(const char *cell) { return cell + 2 + strlen(cell + 1); }

static void find_widths(const struct table *table, size_t *widths, struct text *scratch) {
    const char *cell = table->cells.data;
    for (size_t i = 0; i < table->n_cells; i++, cell = next_cell(cell)) {
        size_t column = i % table->n_columns;
        scratch->length = 0;
        put_shown(scratch, table->columns[column].kind, cell);
        size_t width = scratch->failed ? 0 : width_of(scratch->data, scratch->length);
        if (width > widths[column])
            widths[column] = width;
    }
}

static size_t last_shown(const struct table *table) {
    size_t last = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].heading)
            last = c;
    return last;
}

// Pads the text since `begin`, and ends the line after the last column.
static void end_cell(struct text *out, size_t begin, size_t width, bool last) {
    if (out->failed)
        return;
    for (size_t w = width_of(out->data + begin, out->length - begin); !last && w < width + 2; w++)
        text_append(out, " ", 1);
    if (last)
        text_append(out, "\n", 1);
}

int table_print(const struct table *table, struct text *out) {
    size_t widths[COLUMNS_MAX] = {0}, last = last_shown(table);
    struct text scratch = {0};
    if (table->cells.failed)
        return -ENOMEM;
    for (size_t c = 0; c < table->n_columns; c++)
        widths[c] = table->columns[c].heading ? strlen(table->columns[c].heading) : 0;
    find_widths(table, widths, &scratch);
    for (size_t c = 0; c < table->n_columns; c++) {
        size_t begin = out->length;
        if (!table->columns[c].heading)
            continue;
        text_string(out, table->columns[c].heading);
        end_cell(out, begin, widths[c], c == last);
    }
    const char *cell = table->cells.data;
    for (size_t i = 0; i < table->n_cells; i++, cell = next_cell(cell)) {
        size_t column = i % table->n_columns, begin = out->length;
        if (!table->columns[column].heading)
            continue;
        put_shown(out, table->columns[column].kind, cell);
        end_cell(out, begin, widths[column], column == last);
    }
    bool failed = scratch.failed || out->failed;
    text_free(&scratch);
    return failed ? -ENOMEM : 0;
}

// ---- for programs ----

static void add_list(struct json *json, const char *key, enum table_kind kind, const char *elements) {
    char *copy = strdup(elements), *rest = copy;
    json->out->failed = json->out->failed || !copy;
    json_begin_array(json, key);
    for (char *end; copy && (end = strchr(rest, '\n')); rest = end + 1) {
        *end = '\0';
        if (kind == TABLE_TEXTS)
            json_string(json, NULL, rest);
        else
            json_number(json, NULL, strtod(rest, NULL));
    }
    json_end_array(json);
    free(copy);
}

static void add_cell(struct json *json, const struct table_column *column, const char *cell) {
    if (cell[0] == '-')
        json_null(json, column->key);
    else if (column->kind == TABLE_NUMBER)
        json_number(json, column->key, strtod(cell + 1, NULL));
    else if (column->kind == TABLE_BOOL)
        json_bool(json, column->key, cell[1] == 't');
    else if (column->kind == TABLE_TEXT)
        json_string(json, column->key, cell + 1);
    else
        add_list(json, column->key, column->kind, cell + 1);
}

int table_print_json(const struct table *table, struct text *out) {
    const char *cell = table->cells.data;
    if (table->cells.failed)
        return -ENOMEM;
    struct json json = json_begin(out, JSON_COMPACT);
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < table->n_cells;) {
        json_begin_line(&json, JSON_COMPACT);
        json_begin_object(&json, NULL);
        for (size_t c = 0; c < table->n_columns; c++, i++, cell = next_cell(cell))
            add_cell(&json, &table->columns[c], cell);
        json_end_object(&json);
    }
    json_begin_line(&json, JSON_COMPACT);
    json_end_array(&json);
    return json_end(&json);
}

void table_deinit(struct table *table) { text_free(&table->cells); }
