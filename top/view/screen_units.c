// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/view/lines.h"
#include "top/view/screen_parts.h"

// CPUs or sockets in a table, and one of them with all its metrics.

enum { COLUMN_WIDTH = 13, FIRST_COLUMN = 12, SOCKET_END = 12, NAME_WIDTH = 32 };

// ---- sorting ----

static size_t column_of(const struct screen_state *view, const struct frame_units *units) {
    return view->sort[0] != '\0' ? frame_units_find(units, view->sort) : units->n_columns;
}

struct key {
    float value; // NAN stands last, whatever the direction
    size_t place;
};

static int compare(const void *a, const void *b) {
    const struct key *one = a, *other = b;
    if (isnan(one->value) != isnan(other->value))
        return isnan(one->value) ? 1 : -1;
    if (!isnan(one->value) && one->value != other->value)
        return one->value < other->value ? -1 : 1;
    return one->place < other->place ? -1 : one->place > other->place;
}

void screen_units_sort(const struct screen_state *view, const struct frame_units *units, size_t *order) {
    struct key keys[FRAME_UNITS_MAX];
    size_t column = column_of(view, units), n = units->n < FRAME_UNITS_MAX ? units->n : FRAME_UNITS_MAX;
    for (size_t i = 0; i < n; i++) {
        keys[i] = (struct key){0, i};
        if (column < units->n_columns)
            keys[i].value = frame_units_at(units, i, column)->value * (view->ascending ? 1 : -1);
    }
    qsort(keys, n, sizeof *keys, compare);
    for (size_t i = 0; i < n; i++)
        order[i] = keys[i].place;
}

void screen_units_turn(struct screen_state *view, const struct frame_units *units, int by) {
    size_t n = units->n_columns + 1, at = column_of(view, units); // the last one: by number
    at = (at + n + (size_t)(by < 0 ? (int)n + by : by)) % n;
    (void)snprintf(view->sort, sizeof view->sort, "%s", at < units->n_columns ? units->columns[at].metric : "");
    view->lists[SCREEN_UNITS].at = 0;
}

// ---- the table ----

// A metric's name in two lines of a narrow column: "frontend", "bound"; what all share, "_ratio", is left out.
static void put_heading(struct grid *grid, unsigned row, unsigned end, enum style style, const char *metric) {
    char name[SCREEN_METRIC_MAX];
    (void)snprintf(name, sizeof name, "%s", metric);
    size_t length = strlen(name), cut;
    if (length > 6 && strcmp(name + length - 6, "_ratio") == 0)
        name[length -= 6] = '\0';
    cut = length;
    for (size_t i = 0; i < length && i < COLUMN_WIDTH; i++)
        if (name[i] == '_' && length >= COLUMN_WIDTH)
            cut = i;
    if (cut < length) {
        name[cut] = '\0';
        name[cut + COLUMN_WIDTH < sizeof name ? cut + COLUMN_WIDTH : sizeof name - 1] = '\0';
        grid_right(grid, row, end, style, name);
        grid_right(grid, row + 1, end, style, name + cut + 1);
        return;
    }
    name[COLUMN_WIDTH - 1] = '\0';
    grid_right(grid, row + 1, end, style, name);
}

static void put_unit(const struct frame_units *units, size_t place, size_t first, size_t shown, struct grid *grid,
                     unsigned row) {
    const struct frame_unit *unit = &units->units[place];
    char number[LINES_TEXT_MAX], value[LINES_TEXT_MAX];
    if (unit->cpu >= 0) {
        (void)snprintf(number, sizeof number, "%d", unit->cpu);
        grid_right(grid, row, 5, STYLE_PLAIN, number);
    }
    (void)snprintf(number, sizeof number, "%d", unit->socket);
    grid_right(grid, row, SOCKET_END, STYLE_PLAIN, unit->socket >= 0 ? number : "-");
    for (size_t i = 0; i < shown && first + i < units->n_columns; i++) {
        const struct frame_column *column = &units->columns[first + i];
        lines_value(value, frame_units_at(units, place, first + i)->value, column->unit);
        grid_right(grid, row, FIRST_COLUMN + COLUMN_WIDTH * (unsigned)(i + 1), STYLE_PLAIN, value);
    }
}

static unsigned put_title(const struct screen_state *view, const struct frame_units *units, size_t column,
                          struct grid *grid, unsigned row) {
    const char *what = view->scope == FRAME_CPUS ? "CPUs" : "Sockets";
    if (column == units->n_columns)
        (void)grid_print(grid, row, 0, STYLE_STRONG, "%zu %s by number", units->n, what);
    else
        (void)grid_print(grid, row, 0, STYLE_STRONG, "%zu %s by %s, the %s first", units->n, what,
                         units->columns[column].metric, view->ascending ? "smallest" : "largest");
    return row + 1;
}

void screen_units_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row) {
    const struct frame_type *type = lines_type(view, data);
    const struct frame_units *units = type ? &type->units[view->scope] : NULL;
    struct screen_list *list = &view->lists[SCREEN_UNITS];
    size_t order[FRAME_UNITS_MAX];
    if (!units || !units->present) {
        (void)grid_put(grid, row, 0, grid->columns, STYLE_PLAIN,
                       data->behind > 0 ? "They were not read at this moment: this screen was not open then."
                                        : "Reading them ...");
        return;
    }
    size_t column = column_of(view, units), shown = (grid->columns - FIRST_COLUMN) / COLUMN_WIDTH;
    size_t first = column < units->n_columns && column >= shown ? column + 1 - shown : 0;
    row = put_title(view, units, column, grid, row);
    if (row + 3 >= grid->rows)
        return;
    grid_right(grid, row + 1, 5, STYLE_FAINT, view->scope == FRAME_CPUS ? "CPU" : "");
    grid_right(grid, row + 1, SOCKET_END, STYLE_FAINT, "socket");
    for (size_t i = 0; i < shown && first + i < units->n_columns; i++)
        put_heading(grid, row, FIRST_COLUMN + COLUMN_WIDTH * (unsigned)(i + 1),
                    first + i == column ? STYLE_STRONG : STYLE_FAINT, units->columns[first + i].metric);
    if (column < units->n_columns) // where it is sorted is said by a sign, too
        (void)grid_put(grid, row + 1, FIRST_COLUMN + COLUMN_WIDTH * (unsigned)(column - first + 1), grid->columns,
                       STYLE_STRONG, view->ascending ? "^" : "v");
    row += 2;
    screen_units_sort(view, units, order);
    view->list_rows = grid->rows - 1 - row;
    lines_scroll(list, units->n, view->list_rows);
    for (size_t i = list->first; i < units->n && row < grid->rows - 1; i++, row++) {
        put_unit(units, order[i], first, shown, grid, row);
        if (i == list->at)
            grid_paint(grid, row, STYLE_CHOSEN);
    }
}

// ---- one of them ----

static size_t find_unit(const struct screen_state *view, const struct frame_units *units) {
    size_t i = 0;
    while (i < units->n && (view->scope == FRAME_CPUS ? units->units[i].cpu : units->units[i].socket) != view->unit)
        i++;
    return i;
}

static void put_beside(const struct frame_units *units, size_t unit, const struct frame_units *host, size_t column,
                       struct grid *grid, unsigned row) {
    const struct frame_value *is = frame_units_at(units, unit, column);
    const char *metric = units->columns[column].metric, *of = units->columns[column].unit;
    char value[LINES_TEXT_MAX], half[LINES_TEXT_MAX];
    lines_value(value, is->value, of);
    lines_interval(half, is, of);
    (void)grid_put(grid, row, 1, NAME_WIDTH - 1, STYLE_PLAIN, metric);
    grid_right(grid, row, NAME_WIDTH + 10, STYLE_STRONG, value);
    (void)grid_put(grid, row, NAME_WIDTH + 11, NAME_WIDTH + 20, STYLE_FAINT, half);
    size_t same = frame_units_find(host, metric);
    if (host->n > 0 && same < host->n_columns) { // what is outside the cores is a socket's
        lines_value(value, frame_units_at(host, 0, same)->value, of);
        grid_right(grid, row, NAME_WIDTH + 30, STYLE_PLAIN, value);
    }
    (void)grid_put(grid, row, NAME_WIDTH + 32, grid->columns, STYLE_FAINT, lines_unit(of));
}

void screen_unit_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row) {
    const struct frame_type *type = lines_type(view, data);
    const struct frame_units *units = type ? &type->units[view->scope] : NULL;
    struct screen_list *list = &view->lists[SCREEN_UNIT];
    size_t unit = units ? find_unit(view, units) : 0;
    const char *what = view->scope == FRAME_CPUS ? "CPU" : "Socket";
    if (!units || unit == units->n) {
        (void)grid_print(grid, row, 0, STYLE_PLAIN, "%s %d has no values at this moment.", what, view->unit);
        return;
    }
    (void)grid_print(grid, row, 0, STYLE_STRONG, "%s %d", what, view->unit);
    grid_right(grid, row, NAME_WIDTH + 10, STYLE_FAINT, "value");
    (void)grid_put(grid, row, NAME_WIDTH + 11, grid->columns, STYLE_FAINT, "95 %");
    grid_right(grid, row++, NAME_WIDTH + 30, STYLE_FAINT, "whole host");
    view->list_rows = grid->rows > row + 1 ? grid->rows - 1 - row : 0;
    lines_scroll(list, units->n_columns, view->list_rows);
    for (size_t i = list->first; i < units->n_columns && row < grid->rows - 1; i++, row++) {
        put_beside(units, unit, &type->units[FRAME_HOST], i, grid, row);
        if (i == list->at)
            grid_paint(grid, row, STYLE_CHOSEN);
    }
}
