// SPDX-License-Identifier: Apache-2.0
#include "top/view/screen.h"

#include <stdio.h>
#include <string.h>

#include "top/view/lines.h"
#include "top/view/screen_parts.h"

static const char KEYS[] = " q end  ? help  Enter more  c CPUs  s sockets  e events  space pause  [ ] step";
static const char KEYS_INSIDE[] = " q end  ? help  Esc back  o overview  w what helps  c CPUs  m memory  e events";
static const char KEYS_TABLE[] = " q end  ? help  Esc back  Enter more  < > sort by  r reverse  c CPUs  s sockets";

void screen_init(struct screen_state *view) { *view = (struct screen_state){.scope = FRAME_CPUS, .unit = -1}; }

bool screen_wants(const struct screen_state *view, enum frame_scope scope) {
    return (view->screen == SCREEN_UNITS || view->screen == SCREEN_UNIT) && view->scope == scope;
}

// ---- what a row is ----

size_t screen_rows(const struct screen_state *view, const struct screen_data *data) {
    const struct frame_type *type = lines_type(view, data);
    struct screen_row rows[SCREEN_ROWS_MAX];
    enum memory_metric counted[MEMORY_METRICS_N];
    if (view->screen == SCREEN_EVENTS)
        return data->past ? data->past->n_marks : 0;
    if (view->screen == SCREEN_MEMORY)
        return data->frame ? screen_memory_rows(&data->frame->memory, counted) : 0;
    if (!type || view->screen == SCREEN_NODE)
        return 0;
    if (view->screen == SCREEN_BOTTLENECKS)
        return type->n_bottlenecks;
    if (view->screen == SCREEN_OVERVIEW)
        return screen_overview_rows(view, type, rows);
    return view->screen == SCREEN_UNITS ? type->units[view->scope].n : type->units[view->scope].n_columns;
}

static void show(struct screen_state *view, enum screen_kind screen) {
    view->screen = screen;
    view->help = false;
}

// The level-1 category of the bottleneck is what most people look for first.
static void choose_sort(struct screen_state *view, const struct frame_type *type) {
    if (view->sort[0] != '\0' || !type)
        return;
    for (size_t i = 0; i < type->n_nodes; i++)
        if (type->nodes[i].in_path && type->nodes[i].depth == 0)
            (void)snprintf(view->sort, sizeof view->sort, "%.127s", type->nodes[i].metric);
}

static void show_units(struct screen_state *view, const struct screen_data *data, enum frame_scope scope) {
    if (view->scope != scope || view->screen != SCREEN_UNITS)
        view->lists[SCREEN_UNITS] = (struct screen_list){.at = 0};
    view->scope = scope;
    choose_sort(view, lines_type(view, data));
    show(view, SCREEN_UNITS);
}

// ---- keys on a list ----

static void descend(struct screen_state *view, const struct screen_data *data) {
    const struct frame_type *type = lines_type(view, data);
    size_t at = view->lists[view->screen].at;
    if (!type || at >= screen_rows(view, data))
        return;
    if (view->screen == SCREEN_OVERVIEW) {
        struct screen_row rows[SCREEN_ROWS_MAX];
        (void)screen_overview_rows(view, type, rows);
        const char *metric =
            rows[at].node ? rows[at].node->metric : type->units[FRAME_HOST].columns[rows[at].column].metric;
        (void)snprintf(view->metric, sizeof view->metric, "%s", metric);
        view->before = SCREEN_OVERVIEW;
        show(view, SCREEN_NODE);
    } else if (view->screen == SCREEN_MEMORY) {
        enum memory_metric counted[MEMORY_METRICS_N];
        (void)screen_memory_rows(&data->frame->memory, counted);
        (void)snprintf(view->metric, sizeof view->metric, "%s", memory_metrics[counted[at]].name);
        view->before = SCREEN_MEMORY;
        show(view, SCREEN_NODE);
    } else if (view->screen == SCREEN_UNITS) {
        const struct frame_units *units = &type->units[view->scope];
        size_t order[FRAME_UNITS_MAX];
        screen_units_sort(view, units, order);
        const struct frame_unit *unit = &units->units[order[at]];
        view->unit = view->scope == FRAME_CPUS ? unit->cpu : unit->socket;
        view->lists[SCREEN_UNIT] = (struct screen_list){.at = 0};
        show(view, SCREEN_UNIT);
    }
}

static void go_back(struct screen_state *view) {
    if (view->help)
        view->help = false;
    else
        view->screen = view->screen == SCREEN_UNIT   ? SCREEN_UNITS
                       : view->screen == SCREEN_NODE ? view->before
                                                     : SCREEN_OVERVIEW;
}

static void open_or_close(struct screen_state *view, const struct screen_data *data, bool open) {
    const struct frame_type *type = lines_type(view, data);
    struct screen_row rows[SCREEN_ROWS_MAX];
    size_t n = type ? screen_overview_rows(view, type, rows) : 0, at = view->lists[SCREEN_OVERVIEW].at;
    const struct frame_node *node = at < n ? rows[at].node : NULL;
    if (!node)
        return;
    if (node->parent && screen_overview_is_open(view, node) != open) {
        screen_overview_toggle(view, node);
        return;
    }
    while (!open && node->depth > 0 && at > 0 && rows[at].node->depth >= node->depth)
        at--; // to the node above
    view->lists[SCREEN_OVERVIEW].at = at;
}

static void turn(struct screen_state *view, const struct screen_data *data, int by) {
    const struct frame_type *type = lines_type(view, data);
    if (view->screen == SCREEN_UNITS && type && type->units[view->scope].present)
        screen_units_turn(view, &type->units[view->scope], by);
}

static bool press_on_list(struct screen_state *view, const struct screen_data *data, int key) {
    struct screen_list *list = &view->lists[view->screen];
    size_t n = screen_rows(view, data), page = view->list_rows > 1 ? view->list_rows - 1 : 1;
    if (key == SCREEN_KEY_UP || key == 'k')
        list->at -= list->at > 0;
    else if (key == SCREEN_KEY_DOWN || key == 'j')
        list->at += list->at + 1 < n;
    else if (key == SCREEN_KEY_PAGE_UP)
        list->at -= list->at > page ? page : list->at;
    else if (key == SCREEN_KEY_PAGE_DOWN)
        list->at = list->at + page < n ? list->at + page : n > 0 ? n - 1 : 0;
    else if (key == SCREEN_KEY_HOME)
        list->at = 0;
    else if (key == SCREEN_KEY_END)
        list->at = n > 0 ? n - 1 : 0;
    else if (key == SCREEN_KEY_ENTER)
        descend(view, data);
    else if (key == SCREEN_KEY_RIGHT || key == SCREEN_KEY_LEFT)
        view->screen == SCREEN_OVERVIEW ? open_or_close(view, data, key == SCREEN_KEY_RIGHT)
                                        : turn(view, data, key == SCREEN_KEY_RIGHT ? 1 : -1);
    else
        return false;
    return true;
}

// ---- all keys ----

static enum screen_action action_of(int key) {
    static const struct {
        int key;
        enum screen_action action;
    } actions[] = {{'q', SCREEN_QUIT},      {' ', SCREEN_PAUSE}, {'[', SCREEN_STEP_BACK}, {']', SCREEN_STEP},
                   {'{', SCREEN_LEAP_BACK}, {'}', SCREEN_LEAP},  {'g', SCREEN_OLDEST},    {'G', SCREEN_NEWEST},
                   {'+', SCREEN_FASTER},    {'-', SCREEN_SLOWER}};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (actions[i].key == key)
            return actions[i].action;
    return SCREEN_NOTHING;
}

enum screen_action screen_press(struct screen_state *view, const struct screen_data *data, int key) {
    enum screen_action action = action_of(key);
    if (action != SCREEN_NOTHING)
        return action;
    if (key == '?')
        view->help = !view->help;
    else if (key == SCREEN_KEY_BACK)
        go_back(view);
    else if (key == 'o')
        show(view, SCREEN_OVERVIEW);
    else if (key == 'c' || key == 's')
        show_units(view, data, key == 'c' ? FRAME_CPUS : FRAME_SOCKETS);
    else if (key == 'e' || key == 'm' || key == 'w')
        show(view, key == 'e' ? SCREEN_EVENTS : key == 'm' ? SCREEN_MEMORY : SCREEN_BOTTLENECKS);
    else if (key == 't' && data->frame && data->frame->n_types > 0)
        view->type = (view->type + 1) % data->frame->n_types;
    else if (key == 'r')
        view->ascending = !view->ascending;
    else if (key == '<' || key == '>')
        turn(view, data, key == '>' ? 1 : -1);
    else if (!view->help)
        (void)press_on_list(view, data, key);
    return SCREEN_NOTHING;
}

void screen_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid) {
    static void (*const screens[SCREEN_KINDS])(struct screen_state *, const struct screen_data *, struct grid *,
                                               unsigned) = {
        [SCREEN_OVERVIEW] = screen_overview_draw, [SCREEN_NODE] = screen_node_draw,
        [SCREEN_UNITS] = screen_units_draw,       [SCREEN_UNIT] = screen_unit_draw,
        [SCREEN_EVENTS] = screen_events_draw,     [SCREEN_BOTTLENECKS] = screen_bottlenecks_draw,
        [SCREEN_MEMORY] = screen_memory_draw};
    if (grid->rows < SCREEN_ROWS_MIN || grid->columns < SCREEN_COLUMNS_MIN) {
        (void)grid_wrap(grid, 0, grid->rows, 0, STYLE_PLAIN, "too small: make the terminal 40x12 or larger (q ends)");
        return;
    }
    bool overview = view->screen == SCREEN_OVERVIEW && !view->help, table = view->screen == SCREEN_UNITS && !view->help;
    unsigned row = lines_frame(data, grid, overview ? KEYS : table ? KEYS_TABLE : KEYS_INSIDE);
    if (view->help)
        screen_help_draw(grid, row);
    else if (!data->frame)
        (void)grid_put(grid, row, 0, grid->columns, STYLE_PLAIN, "Waiting for the first answer ...");
    else
        screens[view->screen](view, data, grid, row);
}
