// SPDX-License-Identifier: Apache-2.0
#include "top/view/view.h"

#include <stdio.h>
#include <string.h>

#include "top/view/lines.h"
#include "top/view/screens.h"

static const char KEYS[] = " q end  ? help  Enter more  c CPUs  s sockets  e events  space pause  [ ] step";
static const char KEYS_INSIDE[] = " q end  ? help  Esc back  o overview  c CPUs  s sockets  m memory  e events";
static const char KEYS_TABLE[] = " q end  ? help  Esc back  Enter more  < > sort by  r reverse  c CPUs  s sockets";

void view_init(struct view_state *view) { *view = (struct view_state){.scope = FRAME_CPUS, .unit = -1}; }

bool view_wants(const struct view_state *view, enum frame_scope scope) {
    return (view->screen == VIEW_UNITS || view->screen == VIEW_UNIT) && view->scope == scope;
}

// ---- what a row is ----

size_t screen_rows(const struct view_state *view, const struct view_data *data) {
    const struct frame_type *type = lines_type(view, data);
    struct screen_row rows[SCREEN_ROWS_MAX];
    enum memory_metric counted[MEMORY_METRICS_N];
    if (view->screen == VIEW_EVENTS)
        return data->past ? data->past->n_marks : 0;
    if (view->screen == VIEW_MEMORY)
        return data->frame ? memory_rows(&data->frame->memory, counted) : 0;
    if (!type || view->screen == VIEW_NODE)
        return 0;
    if (view->screen == VIEW_OVERVIEW)
        return overview_rows(view, type, rows);
    return view->screen == VIEW_UNITS ? type->units[view->scope].n : type->units[view->scope].n_columns;
}

static void show(struct view_state *view, enum view_screen screen) {
    view->screen = screen;
    view->help = false;
}

// The level-1 category of the bottleneck is what most people look for first.
static void choose_sort(struct view_state *view, const struct frame_type *type) {
    if (view->sort[0] != '\0' || !type)
        return;
    for (size_t i = 0; i < type->n_nodes; i++)
        if (type->nodes[i].in_path && type->nodes[i].depth == 0)
            (void)snprintf(view->sort, sizeof view->sort, "%.127s", type->nodes[i].metric);
}

static void show_units(struct view_state *view, const struct view_data *data, enum frame_scope scope) {
    if (view->scope != scope || view->screen != VIEW_UNITS)
        view->lists[VIEW_UNITS] = (struct view_list){.at = 0};
    view->scope = scope;
    choose_sort(view, lines_type(view, data));
    show(view, VIEW_UNITS);
}

// ---- keys on a list ----

static void descend(struct view_state *view, const struct view_data *data) {
    const struct frame_type *type = lines_type(view, data);
    size_t at = view->lists[view->screen].at;
    if (!type || at >= screen_rows(view, data))
        return;
    if (view->screen == VIEW_OVERVIEW) {
        struct screen_row rows[SCREEN_ROWS_MAX];
        (void)overview_rows(view, type, rows);
        const char *metric =
            rows[at].node ? rows[at].node->metric : type->units[FRAME_HOST].columns[rows[at].column].metric;
        (void)snprintf(view->metric, sizeof view->metric, "%s", metric);
        view->before = VIEW_OVERVIEW;
        show(view, VIEW_NODE);
    } else if (view->screen == VIEW_MEMORY) {
        enum memory_metric counted[MEMORY_METRICS_N];
        (void)memory_rows(&data->frame->memory, counted);
        (void)snprintf(view->metric, sizeof view->metric, "%s", memory_metrics[counted[at]].name);
        view->before = VIEW_MEMORY;
        show(view, VIEW_NODE);
    } else if (view->screen == VIEW_UNITS) {
        const struct frame_units *units = &type->units[view->scope];
        size_t order[FRAME_UNITS_MAX];
        units_sort(view, units, order);
        const struct frame_unit *unit = &units->units[order[at]];
        view->unit = view->scope == FRAME_CPUS ? unit->cpu : unit->socket;
        view->lists[VIEW_UNIT] = (struct view_list){.at = 0};
        show(view, VIEW_UNIT);
    }
}

static void go_back(struct view_state *view) {
    if (view->help)
        view->help = false;
    else
        view->screen = view->screen == VIEW_UNIT   ? VIEW_UNITS
                       : view->screen == VIEW_NODE ? view->before
                                                   : VIEW_OVERVIEW;
}

static void open_or_close(struct view_state *view, const struct view_data *data, bool open) {
    const struct frame_type *type = lines_type(view, data);
    struct screen_row rows[SCREEN_ROWS_MAX];
    size_t n = type ? overview_rows(view, type, rows) : 0, at = view->lists[VIEW_OVERVIEW].at;
    const struct frame_node *node = at < n ? rows[at].node : NULL;
    if (!node)
        return;
    if (node->parent && overview_is_open(view, node) != open) {
        overview_toggle(view, node);
        return;
    }
    while (!open && node->depth > 0 && at > 0 && rows[at].node->depth >= node->depth)
        at--; // to the node above
    view->lists[VIEW_OVERVIEW].at = at;
}

static void turn(struct view_state *view, const struct view_data *data, int by) {
    const struct frame_type *type = lines_type(view, data);
    if (view->screen == VIEW_UNITS && type && type->units[view->scope].present)
        units_turn(view, &type->units[view->scope], by);
}

static bool press_on_list(struct view_state *view, const struct view_data *data, int key) {
    struct view_list *list = &view->lists[view->screen];
    size_t n = screen_rows(view, data), page = view->list_rows > 1 ? view->list_rows - 1 : 1;
    if (key == VIEW_KEY_UP || key == 'k')
        list->at -= list->at > 0;
    else if (key == VIEW_KEY_DOWN || key == 'j')
        list->at += list->at + 1 < n;
    else if (key == VIEW_KEY_PAGE_UP)
        list->at -= list->at > page ? page : list->at;
    else if (key == VIEW_KEY_PAGE_DOWN)
        list->at = list->at + page < n ? list->at + page : n > 0 ? n - 1 : 0;
    else if (key == VIEW_KEY_HOME)
        list->at = 0;
    else if (key == VIEW_KEY_END)
        list->at = n > 0 ? n - 1 : 0;
    else if (key == VIEW_KEY_ENTER)
        descend(view, data);
    else if (key == VIEW_KEY_RIGHT || key == VIEW_KEY_LEFT)
        view->screen == VIEW_OVERVIEW ? open_or_close(view, data, key == VIEW_KEY_RIGHT)
                                      : turn(view, data, key == VIEW_KEY_RIGHT ? 1 : -1);
    else
        return false;
    return true;
}

// ---- all keys ----

static enum view_action action_of(int key) {
    static const struct {
        int key;
        enum view_action action;
    } actions[] = {{'q', VIEW_QUIT},      {' ', VIEW_PAUSE}, {'[', VIEW_STEP_BACK}, {']', VIEW_STEP},
                   {'{', VIEW_LEAP_BACK}, {'}', VIEW_LEAP},  {'g', VIEW_OLDEST},    {'G', VIEW_NEWEST},
                   {'+', VIEW_FASTER},    {'-', VIEW_SLOWER}};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (actions[i].key == key)
            return actions[i].action;
    return VIEW_NOTHING;
}

enum view_action view_press(struct view_state *view, const struct view_data *data, int key) {
    enum view_action action = action_of(key);
    if (action != VIEW_NOTHING)
        return action;
    if (key == '?')
        view->help = !view->help;
    else if (key == VIEW_KEY_BACK)
        go_back(view);
    else if (key == 'o')
        show(view, VIEW_OVERVIEW);
    else if (key == 'c' || key == 's')
        show_units(view, data, key == 'c' ? FRAME_CPUS : FRAME_SOCKETS);
    else if (key == 'e' || key == 'm')
        show(view, key == 'e' ? VIEW_EVENTS : VIEW_MEMORY);
    else if (key == 't' && data->frame && data->frame->n_types > 0)
        view->type = (view->type + 1) % data->frame->n_types;
    else if (key == 'r')
        view->ascending = !view->ascending;
    else if (key == '<' || key == '>')
        turn(view, data, key == '>' ? 1 : -1);
    else if (!view->help)
        (void)press_on_list(view, data, key);
    return VIEW_NOTHING;
}

void view_draw(struct view_state *view, const struct view_data *data, struct grid *grid) {
    static void (*const screens[VIEW_SCREENS])(struct view_state *, const struct view_data *, struct grid *,
                                               unsigned) = {
        [VIEW_OVERVIEW] = overview_draw, [VIEW_NODE] = node_draw,     [VIEW_UNITS] = units_draw,
        [VIEW_UNIT] = unit_draw,         [VIEW_EVENTS] = events_draw, [VIEW_MEMORY] = memory_draw};
    if (grid->rows < VIEW_ROWS_MIN || grid->columns < VIEW_COLUMNS_MIN) {
        (void)grid_wrap(grid, 0, grid->rows, 0, STYLE_PLAIN, "too small: make the terminal 40x12 or larger (q ends)");
        return;
    }
    bool overview = view->screen == VIEW_OVERVIEW && !view->help, table = view->screen == VIEW_UNITS && !view->help;
    unsigned row = lines_frame(data, grid, overview ? KEYS : table ? KEYS_TABLE : KEYS_INSIDE);
    if (view->help)
        help_draw(grid, row);
    else if (!data->frame)
        (void)grid_put(grid, row, 0, grid->columns, STYLE_PLAIN, "Waiting for the first answer ...");
    else
        screens[view->screen](view, data, grid, row);
}
