// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_line.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    TIME_WIDTH = 8,
    COLUMNS = REPORT_LINE_COLUMNS,
    COLUMNS_WIDE = 4,
    LEAST_WIDE = 2, // of those
    COLUMN_WIDTH = 8,
    SHARE_WIDTH = 10,  // "24.0±10.2%"
    NUMBER_WIDTH = 12, // "0.4500±0.012"
    GAP = 2,           // before the verdict
    VERDICT_LEAST = 12 // it stands on a line of its own where less is left
};

struct column {
    char name[REPORT_LINE_NAME_MAX];
    const struct report_row *row; // NULL: it is not measured
};

struct columns {
    struct column each[COLUMNS];
    size_t n;
    int width; // of all that stands before the verdict
};

// What columns have in common needs no place in their headings.
static void name_column(struct column *column, const char *name, const struct report_row *row) {
    static const char *const endings[][2] = {
        {"_bound", ""}, {"_per_second", "/s"}, {"_speculation", "_spec"}, {"_clocks_ratio", ""}};
    size_t length = strlen(name);
    const char *instead = "";
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i][0]);
        if (length > ending && strcmp(name + length - ending, endings[i][0]) == 0) {
            length -= ending;
            instead = endings[i][1];
            break;
        }
    }
    (void)snprintf(column->name, sizeof column->name, "%.*s%s", (int)length, name, instead);
    column->row = row;
}

// False for a metric that this host cannot measure: it would be a column without any value.
static bool is_planned(const struct report *report, const struct report_row *row) {
    const struct plan *plan = report->view->layout->plan;
    int place = row->metric ? plan->place[row->metric - plan->catalog->metrics] : -1;
    return place < 0 || plan_metric_planned(&plan->metrics[place]);
}

// What a line without limits has: level 1 and instructions a cycle, else the first metrics, with long names. Returns
// how many of them are level 1.
static size_t choose(const struct report *report, struct columns *columns) {
    const struct catalog_level1 *level1 = &report->view->layout->catalog->level1;
    size_t n_level1 = report->view->layout->n_level1 > 0 ? level1->n_categories : 0;
    columns->n = 0;
    for (size_t c = 0; c < n_level1 && columns->n + 1 < COLUMNS; c++)
        name_column(&columns->each[columns->n++], category_name(level1->categories[c].category),
                    report_find_metric(report, level1->categories[c].metric));
    n_level1 = columns->n;
    for (size_t i = 0; i < report->n_rows && columns->n < (n_level1 > 0 ? COLUMNS : COLUMNS_WIDE); i++) {
        const struct report_row *row = &report->rows[i];
        if (row->scope == REPORT_HOST && is_planned(report, row) &&
            (n_level1 == 0 || strcmp(row->metric->export_name, CATALOG_IPC) == 0))
            name_column(&columns->each[columns->n++], row->metric->export_name, row);
    }
    return n_level1;
}

static int width_of(const struct column *column) {
    int width = (int)strlen(column->name);
    int least = column->row && report_number_is_share(column->row->metric) ? SHARE_WIDTH : NUMBER_WIDTH;
    return width > least ? width : least;
}

// The longest verdict of the first level.
static int verdict_width(const struct tree *tree) {
    int longest = 0;
    for (size_t i = 0; i < tree->n; i++) {
        int length = (int)strlen(view_title(&tree->layout->catalog->metrics[tree->nodes[i].metric]));
        if (tree->nodes[i].depth == 0 && length > longest)
            longest = length;
    }
    return longest;
}

static bool is_below(const struct screen *screen, const struct columns *columns) {
    return screen->ends && screen->width - columns->width - GAP < VERDICT_LEAST;
}

static void choose_columns(const struct report *report, const struct screen *screen, bool memory,
                           struct columns *columns) {
    size_t n_level1 = choose(report, columns), least = n_level1 > 0 ? n_level1 : LEAST_WIDE;
    int most = screen->width - (report->tree->n > 0 ? GAP + verdict_width(report->tree) : 0);
    columns->width = TIME_WIDTH;
    if (report->view->core_type)
        columns->width += 1 + COLUMN_WIDTH;
    if (memory)
        columns->width += 1 + REPORT_LINE_MEMORY_WIDTH;
    for (size_t i = 0; i < columns->n; i++)
        columns->width += 1 + width_of(&columns->each[i]);
    while (screen->ends &&
           ((columns->n > least && columns->width > most) || (columns->n > 1 && columns->width > screen->width)))
        columns->width -= 1 + width_of(&columns->each[--columns->n]);
}

bool report_line_differs(const struct report *report, const struct screen *screen, bool memory,
                         const struct report_line_heading *heading) {
    struct columns columns;
    bool differs = false;
    choose_columns(report, screen, memory, &columns);
    for (size_t i = 0; i < columns.n; i++)
        differs = differs || (i < heading->n && strcmp(heading->names[i], columns.each[i].name) != 0);
    return differs;
}

void report_line_head(const struct report *report, const struct screen *screen, bool memory,
                      struct report_line_heading *heading, struct text *out) {
    struct columns columns;
    choose_columns(report, screen, memory, &columns);
    *heading = (struct report_line_heading){.n = columns.n};
    for (size_t i = 0; i < columns.n; i++)
        memcpy(heading->names[i], columns.each[i].name, sizeof heading->names[i]);
    text_format(out, "%*s", TIME_WIDTH, "time");
    if (report->view->core_type)
        text_format(out, " %-*s", COLUMN_WIDTH, "cores");
    for (size_t i = 0; i < columns.n; i++)
        text_format(out, " %*s", width_of(&columns.each[i]), columns.each[i].name);
    if (memory)
        text_format(out, " %*s", REPORT_LINE_MEMORY_WIDTH, "memory");
    if (report->tree->n > 0 && !is_below(screen, &columns))
        text_format(out, "%*sbound by", GAP, "");
    text_string(out, "\n");
}

// "24.0±1.2%": a value with half of its interval, as narrow as five of them on a line must be. Returns its width.
static int write_value(const struct report_row *row, const struct screen *screen, struct text *out) {
    char number[REPORT_NUMBER_MAX], half[REPORT_NUMBER_MAX];
    bool share = report_number_is_share(row->metric), known = isfinite(row->high - row->low);
    double scale = share ? 100 : 1, width = (row->high - row->low) / 2 * scale;
    int n = share ? snprintf(number, sizeof number, "%.1f", scale * row->value)
                  : report_number_write(number, row->value, REPORT_NUMBER_DIGITS);
    int more = share ? snprintf(half, sizeof half, "%.1f", width)
                     : report_number_write(half, width, REPORT_NUMBER_DIGITS_OF_INTERVAL);
    text_string(out, number);
    if (known && width > 0) {
        text_format(out, "%s%s", report_number_plus_minus(screen), half);
        n += more + (screen->utf8 ? 1 : 2);
    }
    text_string(out, share ? "%" : "");
    return n + share;
}

static void put_value(const struct column *column, const struct screen *screen, struct text *out) {
    struct text value = {0};
    const struct report_row *row = column->row;
    int width = width_of(column), n = 1;
    if (!row || !isfinite(row->value))
        text_string(&value, "-");
    else
        n = write_value(row, screen, &value);
    text_format(out, " %*s", width > n ? width - n : 0, "");
    text_append(out, value.data, value.length);
    out->failed = out->failed || value.failed;
    text_free(&value);
}

static void put_verdict(const struct report *report, const struct screen *screen, const struct columns *columns,
                        struct text *out) {
    const char *words = report->sockets_differ ? "the sockets differ" : view_title(report_last(report));
    bool below = is_below(screen, columns);
    int column = GAP + (below ? TIME_WIDTH : columns->width);
    text_format(out, "%s%*s", below ? "\n" : "", below ? column : GAP, "");
    text_folded(out, words, column, screen->ends ? screen->width : INT_MAX);
}

size_t report_line(const struct report *report, const struct screen *screen, bool memory, struct text *out) {
    struct columns columns;
    size_t memory_at = 0;
    choose_columns(report, screen, memory, &columns);
    text_format(out, "%*.1f s", TIME_WIDTH - 2, report->to_seconds);
    if (report->view->core_type)
        text_format(out, " %-*s", COLUMN_WIDTH, report->view->core_type);
    for (size_t i = 0; i < columns.n; i++)
        put_value(&columns.each[i], screen, out);
    if (memory) {
        memory_at = out->length + 1;
        text_format(out, " %*s", REPORT_LINE_MEMORY_WIDTH, "-");
    }
    if (verdict_high(report->verdict))
        put_verdict(report, screen, &columns, out);
    else
        text_string(out, "\n");
    return memory_at;
}

bool report_line_lacks_interval(const struct report *report) {
    struct columns columns;
    bool lacks = false;
    (void)choose(report, &columns);
    for (size_t i = 0; i < columns.n; i++)
        lacks = lacks || (columns.each[i].row && columns.each[i].row->reason == report_few_rounds);
    return lacks;
}
