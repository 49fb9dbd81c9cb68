// SPDX-License-Identifier: Apache-2.0
#include "top/screen/grid.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"

enum { TEXT_MAX = 1024, EIGHTHS = 8 };

int grid_init(struct grid *grid, unsigned rows, unsigned columns, bool ascii) {
    rows = rows < 1 ? 1 : rows > GRID_SIDE_MAX ? GRID_SIDE_MAX : rows;
    columns = columns < 1 ? 1 : columns > GRID_SIDE_MAX ? GRID_SIDE_MAX : columns;
    struct grid_cell *cells = calloc((size_t)rows * columns, sizeof *cells);
    if (!cells)
        return -ENOMEM;
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        cells[i].code = ' ';
    *grid = (struct grid){.rows = rows, .columns = columns, .ascii = ascii, .cells = cells};
    return 0;
}

void grid_deinit(struct grid *grid) {
    free(grid->cells);
    *grid = (struct grid){.rows = 0};
}

static void set(struct grid *grid, unsigned row, unsigned column, enum style style, uint32_t code) {
    if (row < grid->rows && column < grid->columns)
        grid->cells[(size_t)row * grid->columns + column] = (struct grid_cell){code, (uint8_t)style};
}

// ---- characters ----

static uint32_t decode(const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text;
    if (length == 1)
        return at[0];
    uint32_t code = at[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (at[i] & 0x3fu);
    return code;
}

static size_t encode(uint32_t code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

// One column wide in every terminal: Latin, Greek and Cyrillic, arrows, and what this view draws itself.
static bool is_narrow(uint32_t code) {
    return (code >= 0x20 && code < 0x7f) || (code >= 0xa1 && code < 0x300 && code != 0xad) ||
           (code >= 0x370 && code < 0x530) || (code >= 0x2190 && code < 0x2194) || (code >= 0x2500 && code < 0x25a0);
}

static uint32_t shown(const struct grid *grid, uint32_t code) {
    if (!is_narrow(code))
        return '?';
    return !grid->ascii || code < 0x80 ? code : code == 0xb1 ? '~' : '?'; // of a value and its interval
}

// ---- texts ----

unsigned grid_put(struct grid *grid, unsigned row, unsigned column, unsigned end, enum style style, const char *text) {
    end = end < grid->columns ? end : grid->columns;
    while (*text != '\0' && column < end) {
        size_t step = utf8_length(text, SIZE_MAX);
        set(grid, row, column++, style, step > 0 && step < 4 ? shown(grid, decode(text, step)) : '?');
        text += step > 0 ? step : 1;
    }
    return column;
}

unsigned grid_print(struct grid *grid, unsigned row, unsigned column, enum style style, const char *format, ...) {
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return grid_put(grid, row, column, grid->columns, style, text);
}

static unsigned width_of(const char *text) {
    unsigned width = 0;
    while (*text != '\0') {
        size_t step = utf8_length(text, SIZE_MAX);
        text += step > 0 ? step : 1;
        width++;
    }
    return width;
}

void grid_right(struct grid *grid, unsigned row, unsigned end, enum style style, const char *text) {
    unsigned width = width_of(text);
    end = end < grid->columns ? end : grid->columns;
    (void)grid_put(grid, row, width < end ? end - width : 0, end, style, text);
}

// Length of the line that begins at `text`: it ends between words if it can.
static size_t line_length(const char *text, unsigned width) {
    size_t at = 0, space = 0;
    for (unsigned column = 0; text[at] != '\0'; column++) {
        if (text[at] == ' ')
            space = at;
        if (column == width)
            return space > 0 ? space : at;
        size_t step = utf8_length(text + at, SIZE_MAX);
        at += step > 0 ? step : 1;
    }
    return at;
}

unsigned grid_wrap(struct grid *grid, unsigned row, unsigned rows_max, unsigned column, enum style style,
                   const char *text) {
    unsigned used = 0;
    if (column >= grid->columns)
        return 0;
    while (*text != '\0' && used < rows_max) {
        size_t length = line_length(text, grid->columns - column);
        char line[TEXT_MAX];
        (void)snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), text);
        unsigned after = grid_put(grid, row + used, column, grid->columns, style, line);
        text += length + strspn(text + length, " ");
        used++;
        if (used == rows_max && *text != '\0')
            grid_right(grid, row + used - 1, after + 4 < grid->columns ? after + 4 : grid->columns, style, " ...");
    }
    return used;
}

// ---- pictures ----

void grid_bar(struct grid *grid, unsigned row, unsigned column, unsigned width, enum style style, double share) {
    if (!(share > 0) || column >= grid->columns) // NAN, too
        return;
    width = width < grid->columns - column ? width : grid->columns - column;
    unsigned eighths = (unsigned)lround((share < 1 ? share : 1) * width * EIGHTHS);
    unsigned full = grid->ascii ? (eighths + EIGHTHS / 2) / EIGHTHS : eighths / EIGHTHS;
    for (unsigned i = 0; i < full; i++)
        set(grid, row, column + i, style, grid->ascii ? '#' : 0x2588);
    if (!grid->ascii && eighths % EIGHTHS > 0)
        set(grid, row, column + full, style, 0x2590 - eighths % EIGHTHS); // from the left, an eighth is 0x258f
}

void grid_spark(struct grid *grid, unsigned row, unsigned column, unsigned end, enum style style, const float *values,
                size_t n, float largest) {
    static const char heights[] = "_.:-=+*#";
    end = end < grid->columns ? end : grid->columns;
    size_t room = end > column ? end - column : 0, from = n > room ? n - room : 0;
    for (size_t i = from; i < n; i++) {
        float part = values[i] / largest;
        if (!(part >= 0))
            continue;
        unsigned eighth = (unsigned)lroundf((part < 1 ? part : 1) * (EIGHTHS - 1));
        set(grid, row, end - (unsigned)(n - i), style, grid->ascii ? (unsigned char)heights[eighth] : 0x2581 + eighth);
    }
}

void grid_paint(struct grid *grid, unsigned row, enum style style) {
    for (unsigned i = 0; row < grid->rows && i < grid->columns; i++)
        grid->cells[(size_t)row * grid->columns + i].style = (uint8_t)style;
}

void grid_line(const struct grid *grid, unsigned row, char *out, size_t size) {
    const struct grid_cell *cells = grid->cells + (size_t)row * grid->columns;
    unsigned n = grid->columns;
    size_t length = 0;
    while (n > 0 && cells[n - 1].code == ' ')
        n--;
    for (unsigned i = 0; i < n && length + 5 < size; i++)
        length += encode(cells[i].code, out + length);
    out[length] = '\0';
}
