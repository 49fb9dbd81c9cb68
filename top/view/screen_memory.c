// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "top/view/lines.h"
#include "top/view/screen_parts.h"

// What the kernel counts of memory: the host, its NUMA nodes, and resctrl's sockets.

enum {
    TITLE_END = 32,
    VALUE_END = 42,
    NODE_END = 5,
    SOCKET_END = 13,
    KIND_COLUMN = 15,
    TIER_END = 32,
    SIZE_END = 42,
    FREE_END = 52,
    REMOTE_END = 62,
    MISSED_END = 72
};

size_t screen_memory_rows(const struct frame_memory *memory, enum memory_metric rows[static MEMORY_METRICS_N]) {
    size_t n = 0;
    for (int i = 0; i < MEMORY_METRICS_N; i++)
        if (memory->present && isfinite(memory->values[i]))
            rows[n++] = (enum memory_metric)i;
    return n;
}

static void put_host(const struct screen_data *data, enum memory_metric metric, struct grid *grid, unsigned row) {
    const struct memory_metric_words *words = &memory_metrics[metric];
    const struct past_series *series = past_find(data->past, "", words->name);
    char value[LINES_TEXT_MAX];
    lines_value(value, data->frame->memory.values[metric], words->unit);
    (void)grid_put(grid, row, 1, TITLE_END - 1, STYLE_PLAIN, words->title);
    grid_right(grid, row, VALUE_END, STYLE_STRONG, value);
    unsigned column = grid_put(grid, row, VALUE_END + 1, grid->columns, STYLE_FAINT, lines_unit(words->unit));
    float largest = 0;
    for (size_t i = 0; series && i < data->past->n_steps; i++)
        largest = series->values[i] > largest ? series->values[i] : largest;
    if (series && column + 2 < grid->columns)
        grid_spark(grid, row, column + 2, grid->columns, STYLE_PLAIN, series->values, data->past->n_steps,
                   lines_is_share(words->unit) || largest <= 0 ? 1 : largest);
}

static void put_number(struct grid *grid, unsigned row, unsigned end, int number) {
    char text[LINES_TEXT_MAX];
    (void)snprintf(text, sizeof text, "%d", number);
    grid_right(grid, row, end, STYLE_PLAIN, number >= 0 ? text : "-");
}

static void put_size(struct grid *grid, unsigned row, unsigned end, double bytes) {
    char size[DECIMAL_SIZE_MAX];
    grid_right(grid, row, end, STYLE_PLAIN, isfinite(bytes) ? decimal_write_size(bytes, size) : "-");
}

static void put_value(struct grid *grid, unsigned row, unsigned end, enum memory_metric metric, float value) {
    char text[LINES_TEXT_MAX];
    lines_value(text, value, memory_metrics[metric].unit);
    grid_right(grid, row, end, STYLE_STRONG, text);
}

static unsigned put_nodes(const struct frame_memory *memory, struct grid *grid, unsigned row) {
    static const struct {
        unsigned end;
        const char *heading;
    } headings[] = {{NODE_END, "node"}, {SOCKET_END, "socket"}, {TIER_END, "tier"},    {SIZE_END, "size"},
                    {FREE_END, "free"}, {REMOTE_END, "remote"}, {MISSED_END, "missed"}};
    if (memory->n_nodes < 2 || row + 1 >= grid->rows)
        return row;
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        grid_right(grid, row, headings[i].end, STYLE_FAINT, headings[i].heading);
    (void)grid_put(grid, row++, KIND_COLUMN, TIER_END - 5, STYLE_FAINT, "memory");
    for (size_t i = 0; i < memory->n_nodes && row < grid->rows - 1; i++, row++) {
        const struct frame_numa *node = &memory->nodes[i];
        put_number(grid, row, NODE_END, node->id);
        put_number(grid, row, SOCKET_END, node->socket);
        (void)grid_put(grid, row, KIND_COLUMN, TIER_END - 4, STYLE_PLAIN, node->kind);
        put_number(grid, row, TIER_END, node->tier);
        put_size(grid, row, SIZE_END, node->bytes);
        put_size(grid, row, FREE_END, node->free_bytes);
        put_value(grid, row, REMOTE_END, MEMORY_METRIC_REMOTE, node->values[MEMORY_METRIC_REMOTE]);
        put_value(grid, row, MISSED_END, MEMORY_METRIC_MISSED, node->values[MEMORY_METRIC_MISSED]);
    }
    return row + 1;
}

static void put_sockets(const struct frame_memory *memory, struct grid *grid, unsigned row) {
    char value[LINES_TEXT_MAX];
    if (memory->n_sockets == 0 || row + 1 >= grid->rows)
        return;
    grid_right(grid, row, SOCKET_END, STYLE_FAINT, "socket");
    grid_right(grid, row, TIER_END, STYLE_FAINT, "resctrl");
    grid_right(grid, row, SIZE_END, STYLE_FAINT, "remote");
    grid_right(grid, row++, REMOTE_END, STYLE_FAINT, "controllers");
    for (size_t i = 0; i < memory->n_sockets && row < grid->rows - 1; i++, row++) {
        const struct frame_resctrl *socket = &memory->sockets[i];
        put_number(grid, row, SOCKET_END, socket->id);
        put_value(grid, row, TIER_END, MEMORY_METRIC_RESCTRL, socket->values[MEMORY_METRIC_RESCTRL]);
        put_value(grid, row, SIZE_END, MEMORY_METRIC_RESCTRL_OF, socket->values[MEMORY_METRIC_RESCTRL_OF]);
        lines_value(value, (float)socket->controllers, memory_metrics[MEMORY_METRIC_RESCTRL].unit);
        grid_right(grid, row, REMOTE_END, STYLE_STRONG, value);
        (void)grid_put(grid, row, REMOTE_END + 1, grid->columns, STYLE_FAINT, "bytes per second");
    }
}

void screen_memory_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row) {
    const struct frame_memory *memory = &data->frame->memory;
    struct screen_list *list = &view->lists[SCREEN_MEMORY];
    enum memory_metric rows[MEMORY_METRICS_N];
    size_t n = screen_memory_rows(memory, rows);
    if (!memory->present || (memory->n_nodes < 2 && memory->n_sockets == 0)) {
        (void)grid_wrap(
            grid, row, 2, 0, STYLE_PLAIN,
            memory->present && memory->reason[0] != '\0' ? memory->reason
            : memory->present
                ? "This host has one NUMA node, and resctrl counts nothing."
                : "The kernel's counts of memory were not read at this moment; where there are none, they are "
                  "looked for once a minute.");
        return;
    }
    unsigned column = grid_put(grid, row, 0, grid->columns, STYLE_STRONG, "Memory, as the kernel counts it");
    if (isfinite(memory->seconds))
        (void)grid_print(grid, row, column, STYLE_FAINT, " in %.0f s", memory->seconds);
    row++;
    view->list_rows = (unsigned)n;
    lines_scroll(list, n, view->list_rows);
    for (size_t i = 0; i < n && row < grid->rows - 1; i++, row++) {
        put_host(data, rows[i], grid, row);
        if (i == list->at)
            grid_paint(grid, row, STYLE_CHOSEN);
    }
    put_sockets(memory, grid, put_nodes(memory, grid, row + 1));
}
