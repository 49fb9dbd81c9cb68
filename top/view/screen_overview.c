// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "top/view/lines.h"
#include "top/view/screen_parts.h"

enum {
    LEVEL1_MAX = 6,
    TITLE_WIDTH = 24,
    VALUE_END = 34,
    HALF_END = 43,
    BAR_WIDTH = 12,
    LIST_VALUE_END = 50,
    LIST_HALF_END = 59,
    VERDICT_COMMAND_MAX = 1024
};

static const char SLOTS[] = "ratio of pipeline slots";

// ---- which nodes are open ----

static unsigned long long hash_of(const char *metric) {
    unsigned long long hash = 14695981039346656037ull;
    for (; *metric != '\0'; metric++)
        hash = (hash ^ (unsigned char)*metric) * 1099511628211ull;
    return hash;
}

static size_t find_toggled(const struct screen_state *view, const struct frame_node *node) {
    unsigned long long hash = hash_of(node->metric);
    size_t i = 0;
    while (i < view->n_toggled && view->toggled[i] != hash)
        i++;
    return i;
}

// What is high is open by itself, so that the way to the cause is seen.
bool screen_overview_is_open(const struct screen_state *view, const struct frame_node *node) {
    bool high = node->exceeded == FRAME_YES || node->in_path;
    return node->parent && high != (find_toggled(view, node) < view->n_toggled);
}

void screen_overview_toggle(struct screen_state *view, const struct frame_node *node) {
    size_t at = find_toggled(view, node);
    if (at < view->n_toggled)
        view->toggled[at] = view->toggled[--view->n_toggled];
    else if (view->n_toggled < SCREEN_TOGGLED_MAX)
        view->toggled[view->n_toggled++] = hash_of(node->metric);
}

static bool in_tree(const struct frame_type *type, const char *metric) {
    for (size_t i = 0; i < type->n_nodes; i++)
        if (strcmp(type->nodes[i].metric, metric) == 0)
            return true;
    return false;
}

size_t screen_overview_rows(const struct screen_state *view, const struct frame_type *type,
                            struct screen_row rows[static SCREEN_ROWS_MAX]) {
    size_t n = 0;
    unsigned closed = 0; // nodes of this depth and deeper are not shown; 0: all are
    for (size_t i = 0; i < type->n_nodes; i++) {
        const struct frame_node *node = &type->nodes[i];
        if (closed > 0 && node->depth >= closed)
            continue;
        closed = node->parent && !screen_overview_is_open(view, node) ? node->depth + 1 : 0;
        rows[n++] = (struct screen_row){.node = node};
    }
    const struct frame_units *host = &type->units[FRAME_HOST];
    for (size_t i = 0; host->n > 0 && i < host->n_columns; i++)
        if (!in_tree(type, host->columns[i].metric))
            rows[n++] = (struct screen_row){.column = i};
    return n;
}

// ---- the verdict ----

static unsigned put_verdict(const struct screen_data *data, const struct frame_type *type, struct grid *grid,
                            unsigned row) {
    const struct frame_bound *bound = &type->bound;
    unsigned rows = grid->rows >= 40 ? 8 : grid->rows >= 24 ? 5 : 2;
    bool of_all = data->frame->n_types > 1 && type->name[0] == '\0';
    char unknown[VERDICT_COMMAND_MAX];
    (void)snprintf(unknown, sizeof unknown, "Not known: %s.", bound->text);
    const char *text = of_all ? data->frame->bound_text : bound->known ? bound->text : unknown;
    if (data->frame->n_types > 1)
        row += grid_wrap(grid, row, rows, 0, STYLE_PLAIN, data->frame->bound_text);
    row += grid_wrap(grid, row, rows, 0, bound->known ? STYLE_STRONG : STYLE_WARNING, text);
    if (isfinite(bound->since_seconds)) {
        char time[LINES_TEXT_MAX], span[LINES_TEXT_MAX];
        lines_time(time, bound->since_seconds, data->now_seconds);
        lines_span(span, data->frame->timestamp_seconds - bound->since_seconds);
        unsigned column = grid_print(grid, row, 0, STYLE_PLAIN, "%s %s (%s)",
                                     bound->at_least ? "At least since" : "Since", time, span);
        if (bound->next[0] != '\0')
            (void)grid_print(grid, row, column, STYLE_PLAIN, "; next groups: %s", bound->next);
        row++;
    }
    if (bound->command[0] != '\0') { // whole, so that it can be copied
        char command[VERDICT_COMMAND_MAX];
        (void)snprintf(command, sizeof command, "Find the code: %s", bound->command);
        row += grid_wrap(grid, row, rows, 0, STYLE_PLAIN, command);
    }
    if (data->host && data->host->trouble[0] != '\0' && grid->rows >= 24)
        row += grid_wrap(grid, row, 2, 0, STYLE_WARNING, data->host->trouble);
    return row;
}

// ---- level 1 ----

static bool is_category(const struct frame_node *node) { return node->depth == 0 && strcmp(node->unit, SLOTS) == 0; }

// The steps of the past up to the moment that is shown.
static size_t steps_until(const struct past *past, double seconds) {
    if (!isfinite(past->begin_seconds) || !isfinite(seconds) || !(past->step_seconds > 0))
        return past->n_steps;
    double steps = ceil((seconds - past->begin_seconds) / past->step_seconds);
    return steps <= 0 ? 0 : steps < (double)past->n_steps ? (size_t)steps : past->n_steps;
}

// The full height of the pictures: the largest share, in steps of ten points.
static float full_height(const struct screen_data *data, const struct frame_type *type) {
    float largest = 0;
    for (size_t i = 0; i < type->n_nodes; i++) {
        const struct past_series *series = past_find(data->past, type->name, type->nodes[i].metric);
        for (size_t step = 0; series && is_category(&type->nodes[i]) && step < data->past->n_steps; step++)
            largest = series->values[step] > largest ? series->values[step] : largest;
    }
    float height = ceilf(largest * 10) / 10;
    return height > 0 && height < 1 ? height : 1;
}

static void put_category(const struct screen_data *data, const struct frame_type *type, const struct frame_node *node,
                         struct grid *grid, unsigned row) {
    char value[LINES_TEXT_MAX], half[LINES_TEXT_MAX];
    enum style style = lines_category(node->metric);
    lines_value(value, node->is.value, node->unit);
    lines_interval(half, &node->is, node->unit);
    (void)grid_put(grid, row, 1, 1 + TITLE_WIDTH, node->in_path ? STYLE_STRONG : STYLE_PLAIN, node->title);
    grid_right(grid, row, VALUE_END, STYLE_STRONG, value);
    (void)grid_put(grid, row, VALUE_END + 1, HALF_END, STYLE_FAINT, half);
    grid_bar(grid, row, HALF_END, BAR_WIDTH, style, (double)node->is.value);
    const struct past_series *series = past_find(data->past, type->name, node->metric);
    if (series)
        grid_spark(grid, row, HALF_END + BAR_WIDTH + 2, grid->columns, style, series->values,
                   steps_until(data->past, data->frame->timestamp_seconds), full_height(data, type));
}

static unsigned put_level1(const struct screen_data *data, const struct frame_type *type, struct grid *grid,
                           unsigned row) {
    unsigned n = 0;
    for (size_t i = 0; i < type->n_nodes && n < LEVEL1_MAX; i++) {
        const struct frame_node *node = &type->nodes[i];
        if (!is_category(node))
            continue;
        put_category(data, type, node, grid, row + 1 + n);
        n++;
    }
    if (n == 0)
        return row;
    (void)grid_put(grid, row, 0, VALUE_END + 9, STYLE_FAINT, "Level 1 of pipeline slots");
    (void)grid_put(grid, row, VALUE_END + 1, HALF_END, STYLE_FAINT, "95 %");
    if (data->past && data->past->step_seconds > 0) {
        char text[LINES_TEXT_MAX];
        int whole = snprintf(text, sizeof text, "%g s a column, to %.0f %%", data->past->step_seconds,
                             (double)full_height(data, type) * 100);
        if (HALF_END + 1 + (unsigned)whole > grid->columns) // a narrow terminal
            (void)snprintf(text, sizeof text, "to %.0f %%", (double)full_height(data, type) * 100);
        grid_right(grid, row, grid->columns, STYLE_FAINT, text);
    }
    return row + 1 + n;
}

// What the memory of all sockets moves, where that is known: beside level 1, as the page has it.
static unsigned put_memory(const struct frame_bound *bound, struct grid *grid, unsigned row) {
    static const double GIGABYTE = 1e9;
    char value[LINES_TEXT_MAX];
    if (!isfinite(bound->memory_bytes))
        return row;
    (void)snprintf(value, sizeof value, "%.1f GB/s", bound->memory_bytes / GIGABYTE);
    (void)grid_put(grid, row, 1, 1 + TITLE_WIDTH, STYLE_PLAIN, "Memory");
    grid_right(grid, row, VALUE_END, STYLE_STRONG, value);
    if (bound->peak_exceeded)
        (void)grid_print(grid, row, HALF_END + 1, STYLE_FAINT, "stated peak %.4g GB/s must be wrong",
                         bound->memory_peak / GIGABYTE);
    else if (isfinite(bound->memory_peak)) {
        double share = bound->memory_bytes / bound->memory_peak;
        grid_bar(grid, row, HALF_END, BAR_WIDTH, STYLE_PLAIN, share);
        (void)grid_print(grid, row, HALF_END + BAR_WIDTH + 2, STYLE_FAINT, "%.0f %% of %.0f GB/s", 100 * share,
                         bound->memory_peak / GIGABYTE);
    }
    return row + 1;
}

// How much of the memory was taken on another node, where the host has several.
static unsigned put_remote(const struct screen_data *data, struct grid *grid, unsigned row) {
    const struct memory_metric_words *words = &memory_metrics[MEMORY_METRIC_REMOTE];
    const struct past_series *series = past_find(data->past, "", words->name);
    float share = data->frame->memory.present ? data->frame->memory.values[MEMORY_METRIC_REMOTE] : NAN;
    char value[LINES_TEXT_MAX];
    if (!isfinite(share))
        return row;
    lines_value(value, share, words->unit);
    (void)grid_put(grid, row, 1, 1 + TITLE_WIDTH, STYLE_PLAIN, words->title);
    grid_right(grid, row, VALUE_END, STYLE_STRONG, value);
    grid_bar(grid, row, HALF_END, BAR_WIDTH, STYLE_PLAIN, (double)share);
    if (series)
        grid_spark(grid, row, HALF_END + BAR_WIDTH + 2, grid->columns, STYLE_PLAIN, series->values,
                   steps_until(data->past, data->frame->timestamp_seconds), 1);
    return row + 1;
}

// ---- the list ----

static const char *mark_of(const struct frame_node *node) {
    if (node->exceeded != FRAME_YES)
        return " ";
    return node->certain == FRAME_YES ? "!" : "?";
}

// Of what the bars are shares: of that of the first level. "": there are none.
static const char *whole_of(const struct frame_type *type) {
    return type->n_nodes > 0 && lines_is_share(type->nodes[0].unit) ? lines_unit(type->nodes[0].unit) : "";
}

// Where the bars are or, on a narrow terminal, closer to the interval, which ends before `column`.
static void put_unit(const char *unit, unsigned column, struct grid *grid, unsigned row) {
    static const char more[] = "...";
    unsigned length = (unsigned)strlen(unit);
    if (LIST_HALF_END + 1 + length <= grid->columns)
        column = LIST_HALF_END;
    bool fits = column + 1 + length <= grid->columns;
    if (!fits && column + sizeof more > grid->columns)
        return;
    unsigned end = fits ? grid->columns : grid->columns - (unsigned)(sizeof more - 1);
    end = grid_put(grid, row, column + 1, end, STYLE_FAINT, unit);
    (void)grid_put(grid, row, end, grid->columns, STYLE_FAINT, fits ? "" : more);
}

// `whole`: of what the bars are shares.
static void put_node(const struct screen_state *view, const struct frame_node *node, const char *whole,
                     struct grid *grid, unsigned row) {
    char value[LINES_TEXT_MAX], half[LINES_TEXT_MAX];
    unsigned column = 2 + 2 * node->depth;
    (void)grid_put(grid, row, 0, 1, STYLE_STRONG, mark_of(node));
    if (node->parent)
        (void)grid_put(grid, row, column, column + 1, STYLE_PLAIN, screen_overview_is_open(view, node) ? "-" : "+");
    (void)grid_put(grid, row, column + 2, LIST_VALUE_END - 11, node->in_path ? STYLE_STRONG : STYLE_PLAIN, node->title);
    lines_value(value, node->is.value, node->unit);
    lines_interval(half, &node->is, node->unit);
    grid_right(grid, row, LIST_VALUE_END, STYLE_STRONG, value);
    column = grid_put(grid, row, LIST_VALUE_END + 1, LIST_HALF_END, STYLE_FAINT, half);
    if (!isfinite(node->is.value) && node->reason[0] != '\0')
        (void)grid_put(grid, row, LIST_VALUE_END + 1, grid->columns, STYLE_FAINT, node->reason);
    else if (strcmp(lines_unit(node->unit), whole) == 0)
        grid_bar(grid, row, LIST_HALF_END + 1, grid->columns < 120 ? BAR_WIDTH : 2 * BAR_WIDTH,
                 lines_category(node->metric), (double)node->is.value);
    else
        put_unit(lines_unit(node->unit), column, grid, row);
}

static void put_metric(const struct frame_units *host, size_t i, struct grid *grid, unsigned row) {
    const struct frame_value *is = frame_units_at(host, 0, i);
    const struct frame_column *column = &host->columns[i];
    char value[LINES_TEXT_MAX], half[LINES_TEXT_MAX];
    lines_value(value, is->value, column->unit);
    lines_interval(half, is, column->unit);
    (void)grid_put(grid, row, 4, LIST_VALUE_END - 11, STYLE_PLAIN, column->metric);
    grid_right(grid, row, LIST_VALUE_END, STYLE_STRONG, value);
    unsigned end = grid_put(grid, row, LIST_VALUE_END + 1, LIST_HALF_END, STYLE_FAINT, half);
    put_unit(lines_unit(column->unit), end, grid, row);
}

void screen_overview_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row) {
    const struct frame_type *type = lines_type(view, data);
    struct screen_row rows[SCREEN_ROWS_MAX];
    struct screen_list *list = &view->lists[SCREEN_OVERVIEW];
    if (!type)
        return;
    if (data->frame->n_types > 1)
        (void)grid_print(grid, row++, 0, STYLE_STRONG, "%s, core type %zu of %zu (t: the next one)", type->name,
                         (size_t)(type - data->frame->types) + 1, data->frame->n_types);
    row = put_verdict(data, type, grid, row);
    row = put_level1(data, type, grid, row);
    row = put_memory(&type->bound, grid, row);
    row = put_remote(data, grid, row);
    if (row + 2 >= grid->rows)
        return;
    const char *whole = whole_of(type);
    (void)grid_put(grid, row, 0, LIST_VALUE_END - 8, STYLE_FAINT,
                   grid->columns >= 80 ? "Tree (! high, ? perhaps), other metrics" : "Tree (! high, ? perhaps)");
    grid_right(grid, row, LIST_VALUE_END, STYLE_FAINT, "value");
    (void)grid_put(grid, row, LIST_VALUE_END + 1, grid->columns, STYLE_FAINT, "95 %");
    (void)grid_put(grid, row++, LIST_HALF_END + 1, grid->columns, STYLE_FAINT, whole);
    size_t n = screen_overview_rows(view, type, rows);
    view->list_rows = grid->rows - 1 - row;
    lines_scroll(list, n, view->list_rows);
    for (size_t i = list->first; i < n && row < grid->rows - 1; i++, row++) {
        if (rows[i].node)
            put_node(view, rows[i].node, whole, grid, row);
        else
            put_metric(&type->units[FRAME_HOST], rows[i].column, grid, row);
        if (i == list->at)
            grid_paint(grid, row, STYLE_CHOSEN);
    }
}
