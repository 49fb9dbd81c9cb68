// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "top/view/lines.h"
#include "top/view/screen_parts.h"

// What would help how much: the pipeline slots of the host by what can be done about them, the largest first.

enum { TITLE_END = 42, VALUE_END = 50, HALF_END = 59, BAR_WIDTH = 12, REMEDY_ROWS = 4 };

static const char SLOTS[] = "ratio of pipeline slots";

static void put_row(const struct frame_bottleneck *one, struct grid *grid, unsigned row) {
    char value[LINES_TEXT_MAX], half[LINES_TEXT_MAX];
    lines_value(value, one->is.value, SLOTS);
    lines_interval(half, &one->is, SLOTS);
    unsigned column = grid_put(grid, row, 1, TITLE_END, STYLE_PLAIN, one->title);
    if (one->rest)
        (void)grid_put(grid, row, column, TITLE_END, STYLE_FAINT, ", the rest");
    grid_right(grid, row, VALUE_END, STYLE_STRONG, value);
    if (!isfinite(one->is.value)) {
        (void)grid_put(grid, row, VALUE_END + 1, grid->columns, STYLE_FAINT, one->reason);
        return;
    }
    (void)grid_put(grid, row, VALUE_END + 1, HALF_END, STYLE_FAINT, half);
    grid_bar(grid, row, HALF_END + 1, BAR_WIDTH, STYLE_PLAIN, (double)one->is.value);
}

void screen_bottlenecks_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid,
                             unsigned row) {
    const struct frame_type *type = lines_type(view, data);
    struct screen_list *list = &view->lists[SCREEN_BOTTLENECKS];
    if (!type || type->n_bottlenecks == 0) {
        (void)grid_wrap(grid, row, 2, 0, STYLE_PLAIN,
                        "Nothing divides the pipeline slots: this CPU counts none, or the daemon is older.");
        return;
    }
    (void)grid_put(grid, row, 0, TITLE_END, STYLE_STRONG, "What would help how much");
    (void)grid_put(grid, row, VALUE_END + 1, HALF_END, STYLE_FAINT, "95 %");
    (void)grid_put(grid, row++, HALF_END + 1, grid->columns, STYLE_FAINT, lines_unit(SLOTS));
    view->list_rows = grid->rows > row + REMEDY_ROWS ? grid->rows - row - REMEDY_ROWS : 1;
    lines_scroll(list, type->n_bottlenecks, view->list_rows);
    unsigned end = row + view->list_rows;
    for (size_t i = list->first; i < type->n_bottlenecks && row < end; i++, row++) {
        put_row(&type->bottlenecks[i], grid, row);
        if (i == list->at)
            grid_paint(grid, row, STYLE_CHOSEN);
    }
    if (list->at < type->n_bottlenecks)
        (void)grid_wrap(grid, row + 1, REMEDY_ROWS - 2, 1, STYLE_PLAIN, type->bottlenecks[list->at].remedy);
}
