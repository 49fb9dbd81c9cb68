// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "top/view/lines.h"
#include "top/view/screen_parts.h"

// One metric with all that is known of it; what happened; and the keys.

enum { SPARK_ROWS = 2 };

static const struct frame_node *find_node(const struct frame_type *type, const char *metric) {
    for (size_t i = 0; type && i < type->n_nodes; i++)
        if (strcmp(type->nodes[i].metric, metric) == 0)
            return &type->nodes[i];
    return NULL;
}

static unsigned put_past(const struct screen_data *data, const struct frame_type *type, const char *metric, bool share,
                         struct grid *grid, unsigned row) {
    const struct past_series *series = past_find(data->past, type->name, metric);
    char span[LINES_TEXT_MAX];
    float largest = 0;
    if (!series || row + SPARK_ROWS >= grid->rows)
        return row;
    for (size_t i = 0; i < data->past->n_steps; i++)
        largest = series->values[i] > largest ? series->values[i] : largest;
    lines_span(span, (double)data->past->n_steps * data->past->step_seconds);
    (void)grid_print(grid, row, 0, STYLE_FAINT,
                     share ? "The last %s, %g s a column; full height: 100 %%"
                           : "The last %s, %g s a column; full height: %g",
                     span, data->past->step_seconds, (double)largest);
    grid_spark(grid, row + 1, 0, grid->columns, lines_category(metric), series->values, data->past->n_steps,
               share         ? 1
               : largest > 0 ? largest
                             : 1);
    return row + SPARK_ROWS + 1;
}

static unsigned put_entry(struct grid *grid, unsigned row, const char *name, const char *text) {
    if (text[0] == '\0' || row >= grid->rows)
        return row;
    (void)grid_put(grid, row, 0, grid->columns, STYLE_FAINT, name);
    return row + grid_wrap(grid, row, grid->rows - 1 - row, 12, STYLE_PLAIN, text);
}

static const char *judgement(const struct frame_node *node) {
    if (node->exceeded == FRAME_UNKNOWN)
        return "";
    if (node->exceeded == FRAME_NO)
        return node->certain == FRAME_YES ? "not high" : "not high, but the interval does not settle it";
    return node->certain == FRAME_YES ? "HIGH" : "high, but the interval does not settle it";
}

static unsigned put_value(const struct frame_value *is, const char *unit, struct grid *grid, unsigned row) {
    char value[LINES_TEXT_MAX], low[LINES_TEXT_MAX], high[LINES_TEXT_MAX], text[4 * LINES_TEXT_MAX + 64];
    lines_value(value, is->value, unit);
    lines_value(low, is->low, unit);
    lines_value(high, is->high, unit);
    const char *of = lines_unit(unit);
    if (isfinite(is->low))
        (void)snprintf(text, sizeof text, "%s %.60s (95 %%: %s to %s)", value, of, low, high);
    else
        (void)snprintf(text, sizeof text, "%s %.60s", value, of);
    return put_entry(grid, row, "value", text);
}

// What the kernel counts: exact, and of no core type.
static void put_counted(const struct screen_data *data, const struct frame_memory *memory, size_t metric,
                        struct grid *grid, unsigned row) {
    static const struct frame_type of_all = {.name = ""};
    const struct memory_metric_words *words = &memory_metrics[metric];
    const struct frame_value is = {memory->values[metric], NAN, NAN, false};
    (void)grid_print(grid, row++, 0, STYLE_STRONG, "%s", words->title);
    row = put_entry(grid, row, "metric", words->name);
    row = put_value(&is, words->unit, grid, row);
    row = put_entry(grid, row, "meaning", words->definition);
    (void)put_past(data, &of_all, words->name, lines_is_share(words->unit), grid, row + 1);
}

void screen_node_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row) {
    const struct frame_type *type = lines_type(view, data);
    for (size_t i = 0; i < MEMORY_METRICS_N && data->frame->memory.present; i++)
        if (strcmp(memory_metrics[i].name, view->metric) == 0) {
            put_counted(data, &data->frame->memory, i, grid, row);
            return;
        }
    const struct frame_node *node = find_node(type, view->metric);
    const struct frame_units *host = type ? &type->units[FRAME_HOST] : NULL;
    size_t column = host ? frame_units_find(host, view->metric) : 0;
    if (!type || (!node && (host->n == 0 || column == host->n_columns))) {
        (void)grid_print(grid, row, 0, STYLE_PLAIN, "%s has no value at this moment.", view->metric);
        return;
    }
    const char *unit = node ? node->unit : host->columns[column].unit;
    (void)grid_print(grid, row++, 0, STYLE_STRONG, "%s", node ? node->title : view->metric);
    row = put_entry(grid, row, "metric", view->metric);
    row = put_value(node ? &node->is : frame_units_at(host, 0, column), unit, grid, row);
    if (node) {
        char share[LINES_TEXT_MAX] = "";
        if (isfinite(node->share_of_time))
            (void)snprintf(share, sizeof share, "%.0f %% of the time; %.20s", (double)node->share_of_time * 100,
                           node->quality);
        row = put_entry(grid, row, "no value", node->reason);
        row = put_entry(grid, row, "measured", share);
        row = put_entry(grid, row, "uncertain", node->quality_reason);
        row = put_entry(grid, row, "judgement", judgement(node));
        row = put_entry(grid, row, "threshold", node->threshold);
        row = put_entry(grid, row, "meaning", node->meaning);
        row = put_entry(grid, row, "next groups", node->next);
        row = put_entry(grid, row, "the code", node->command);
    }
    (void)put_past(data, type, view->metric, lines_is_share(unit), grid, row + 1);
}

void screen_events_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid, unsigned row) {
    struct screen_list *list = &view->lists[SCREEN_EVENTS];
    size_t n = data->past ? data->past->n_marks : 0;
    char time[LINES_TEXT_MAX];
    (void)grid_put(grid, row++, 0, grid->columns, STYLE_STRONG, "What happened, the newest first");
    if (n == 0)
        (void)grid_put(grid, row, 0, grid->columns, STYLE_PLAIN, "Nothing in the last hour.");
    view->list_rows = grid->rows > row + 1 ? grid->rows - 1 - row : 0;
    lines_scroll(list, n, view->list_rows);
    for (size_t i = list->first; i < n && row < grid->rows - 1; i++, row++) {
        const struct past_mark *mark = &data->past->marks[n - 1 - i];
        lines_time(time, mark->seconds, data->now_seconds);
        (void)grid_put(grid, row, 0, 20, STYLE_PLAIN, time);
        (void)grid_put(grid, row, 20, 29, STYLE_STRONG, mark->kind);
        (void)grid_put(grid, row, 29, grid->columns, STYLE_PLAIN, mark->text);
        if (i == list->at)
            grid_paint(grid, row, STYLE_CHOSEN);
    }
}

void screen_help_draw(struct grid *grid, unsigned row) {
    static const char *const lines[] = {
        "up, down, PgUp, PgDn, Home, End   choose a row        o  the overview",
        "Enter  all that is known of it    Esc  back           c  CPUs    s  sockets",
        "w    what would help how much                         m  memory, as the kernel counts it",
        "right, left  open, close a node of the tree           e  what happened",
        "< >  sort CPUs or sockets by another metric           t  the next core type",
        "r    the other way round                              ?  these keys    q  end",
        "",
        "space  pause, go on       [ ]  one moment back, on    { }  ten",
        "g  the oldest moment      G  the newest one           + -  speed of a recording",
        "",
        "Pipeline slots: what the CPU could have done. Useful work (retiring) was done;",
        "front end: no instructions came; bad speculation: work was thrown away; back",
        "end: instructions waited, mostly for memory.",
        "Behind a value stands half of its 95 % interval: where two intervals overlap,",
        "the values cannot be told apart. - is no value; it does not mean zero.",
        "! is above its threshold, ? may be: the interval does not settle it.",
        "Counters take turns, so a value covers the last round of each core.",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines && row < grid->rows - 1; i++)
        (void)grid_put(grid, row++, 0, grid->columns, STYLE_PLAIN, lines[i]);
}
