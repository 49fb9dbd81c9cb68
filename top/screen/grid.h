// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_SCREEN_GRID_H
#define TOPDOWND_TOP_SCREEN_GRID_H

// A screen as a grid of characters with styles, which a terminal shows and a test reads. What does not fit is cut.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_SIDE_MAX = 1000 };

// No meaning hangs on a style alone: each has a word or a place that says the same.
enum style {
    STYLE_PLAIN,
    STYLE_STRONG,
    STYLE_FAINT,
    STYLE_BAR,    // the first and the last line
    STYLE_CHOSEN, // the line that keys act on
    STYLE_WARNING,
    STYLE_FRONTEND, // the level-1 categories
    STYLE_SPECULATION,
    STYLE_RETIRING,
    STYLE_BACKEND,
    STYLES
};

struct grid {
    unsigned rows, columns;
    bool ascii; // the terminal knows no other characters
    struct grid_cell {
        uint32_t code;
        uint8_t style;
    } * cells;
};

// Makes a grid of spaces, of GRID_SIDE_MAX rows and columns at most. Returns 0 or -ENOMEM.
int grid_init(struct grid *grid, unsigned rows, unsigned columns, bool ascii);
void grid_deinit(struct grid *grid);

// Writes a text from `column` to before `end`, and returns the column after it. Characters whose width terminals do not
// agree on become '?'.
unsigned grid_put(struct grid *grid, unsigned row, unsigned column, unsigned end, enum style style, const char *text);
unsigned grid_print(struct grid *grid, unsigned row, unsigned column, enum style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// The same at the right, so that it ends before column `end`.
void grid_right(struct grid *grid, unsigned row, unsigned end, enum style style, const char *text);

// Writes a text in lines that break between words, `rows_max` at most. Returns how many there are.
unsigned grid_wrap(struct grid *grid, unsigned row, unsigned rows_max, unsigned column, enum style style,
                   const char *text);

// A bar of `width` columns, filled to a share from 0 to 1.
void grid_bar(struct grid *grid, unsigned row, unsigned column, unsigned width, enum style style, double share);

// Values from 0 to 1 as columns, one character each; NAN leaves a space. They end before column `end`.
void grid_spark(struct grid *grid, unsigned row, unsigned column, unsigned end, enum style style, const float *values,
                size_t n, float largest);

// Gives a whole row a style.
void grid_paint(struct grid *grid, unsigned row, enum style style);

// A row as UTF-8 without spaces at its end.
void grid_line(const struct grid *grid, unsigned row, char *out, size_t size);

#endif
