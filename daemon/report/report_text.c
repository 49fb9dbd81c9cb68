// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/report/report_table.h"
#include "exporters/view/view_next.h"

enum {
    TITLE_WIDTH = 26,
    INDENT = 2,
    BAR_LEAST = 8,
    VALUE_WIDTH = 20,
    COLUMNS = 5,
    COLUMNS_WIDE = 4,
    COLUMN_WIDTH = 8,
    COLUMN_NAME_MAX = 24,
    SAID_ONCE = 2, // and not for each line
    EIGHTHS = 8
};
static const char BOLD[] = "\033[1m", RED[] = "\033[31m", PLAIN[] = "\033[0m";

static const struct report_row *row_of(const struct report *report, unsigned metric) {
    const struct catalog_metric *wanted = &report->view->layout->catalog->metrics[metric];
    for (size_t i = 0; i < report->n_rows; i++)
        if (report->rows[i].scope == REPORT_HOST && report->rows[i].metric == wanted)
            return &report->rows[i];
    return NULL;
}

// ---- bars ----

static void put_bar(double share, int columns, const struct screen *screen, struct text *out) {
    static const char *const parts[EIGHTHS] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)lround(fmin(fmax(share, 0), 1) * columns * EIGHTHS);
    if (!screen->utf8)
        eighths = (eighths + EIGHTHS / 2) / EIGHTHS * EIGHTHS;
    for (int i = 0; i < eighths / EIGHTHS; i++)
        text_string(out, screen->utf8 ? "█" : "#");
    text_string(out, parts[eighths % EIGHTHS]);
}

static bool on_path(const struct report *report, size_t node) {
    for (size_t i = 0; i < report->bound.n; i++)
        if (report->bound.path[i] == node)
            return true;
    return false;
}

static bool is_shown(const struct report *report, size_t index) {
    const struct tree *tree = report->tree;
    bool below = tree->nodes[index].depth == 0;
    for (size_t i = 0; i < report->bound.n && !below; i++) {
        size_t parent = report->bound.path[i];
        below = tree->nodes[index].depth == tree->nodes[parent].depth + 1 && index > parent &&
                index < tree_next(tree, parent);
    }
    return below && row_of(report, tree->nodes[index].metric);
}

// How wide the titles are, with their indents.
static int title_width(const struct report *report, const struct screen *screen) {
    int width = TITLE_WIDTH, most = screen->width - VALUE_WIDTH - BAR_LEAST;
    for (size_t i = 0; i < report->tree->n; i++) {
        const struct tree_node *node = &report->tree->nodes[i];
        const char *title = view_title(&report->view->layout->catalog->metrics[node->metric]);
        int wanted = INDENT * (1 + (int)node->depth) + (int)strlen(title);
        if (is_shown(report, i) && wanted > width)
            width = wanted;
    }
    return width < most ? width : most;
}

static void put_node(const struct report *report, const struct screen *screen, int title, size_t index,
                     struct text *out) {
    const struct tree_node *node = &report->tree->nodes[index];
    const struct report_row *row = row_of(report, node->metric);
    bool marked = on_path(report, index) && report->bound.exceeded == JUDGE_YES && screen->colour;
    int indent = INDENT * (1 + (int)node->depth), room = title > indent ? title - indent : 0;
    text_format(out, "%s%*s%-*.*s ", marked ? RED : "", indent, "", room, room, view_title(row->metric));
    if (!isfinite(row->value)) {
        text_format(out, "not known: %s%s\n", row->reason, marked ? PLAIN : "");
        return;
    }
    int width = report_number_put(row, screen, out);
    if (row->metric->domain != METRIC_OTHER) {
        text_format(out, "%*s ", width < VALUE_WIDTH ? VALUE_WIDTH - width : 0, "");
        put_bar(row->value, screen->width - title - VALUE_WIDTH - 3, screen, out);
    }
    text_format(out, "%s\n", marked ? PLAIN : "");
}

// Why nothing is known of a node that is shown; NULL: it has a value, or is not shown.
static const char *unknown_why(const struct report *report, size_t index) {
    const struct report_row *row = is_shown(report, index) ? row_of(report, report->tree->nodes[index].metric) : NULL;
    return row && !isfinite(row->value) ? row->reason : NULL;
}

// Of how many nodes as deep as this one nothing is known for the same reason; *first is the first of them. Only what is
// below the path is shown deeper than level 1, so these have one parent.
static size_t count_unknown(const struct report *report, size_t index, size_t *first) {
    const struct tree *tree = report->tree;
    const char *why = unknown_why(report, index);
    size_t n = 0;
    for (size_t i = 0; i < tree->n && why; i++) {
        const char *other = tree->nodes[i].depth == tree->nodes[index].depth ? unknown_why(report, i) : NULL;
        if (!other || strcmp(other, why) != 0)
            continue;
        *first = n == 0 ? i : *first;
        n++;
    }
    return n;
}

static void put_unknown(const struct report *report, const struct screen *screen, size_t index, size_t n,
                        struct text *out) {
    int indent = INDENT * (1 + (int)report->tree->nodes[index].depth);
    struct text words = {0};
    text_format(&words, "%zu parts are not known: %s", n, unknown_why(report, index));
    text_append(&words, "", 1);
    text_format(out, "%*s", indent, "");
    if (words.failed)
        out->failed = true;
    else
        text_folded(out, words.data, indent + INDENT, screen->width);
    text_free(&words);
}

// Level 1, and under each node of the path what is directly below it.
static void put_tree(const struct report *report, const struct screen *screen, struct text *out) {
    int title = title_width(report, screen);
    for (size_t node = 0; node < report->tree->n; node++) {
        size_t first = node, n = is_shown(report, node) ? count_unknown(report, node, &first) : 0;
        if (n >= SAID_ONCE && first == node)
            put_unknown(report, screen, node, n, out);
        else if (n < SAID_ONCE && is_shown(report, node))
            put_node(report, screen, title, node, out);
    }
}

// ---- tables ----

static bool in_group(const struct catalog_group *group, const struct catalog *catalog, const struct report_row *row) {
    unsigned metric = catalog_metric_named(catalog, (unsigned)(row->metric - catalog->metrics));
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

// True for a metric that the last node of the path leads to, and for instructions a cycle.
static bool leads_on(const struct report *report, const struct report_row *row) {
    const struct catalog *catalog = report->view->layout->catalog;
    unsigned groups[VIEW_NEXT_MAX];
    if (strcmp(row->metric->export_name, CATALOG_IPC) == 0)
        return true;
    if (report->bound.n == 0 || report->bound.exceeded != JUDGE_YES)
        return false;
    size_t n =
        view_next_groups(report->view, report->tree->nodes[report->bound.path[report->bound.n - 1]].metric, groups);
    for (size_t i = 0; i < n; i++)
        if (in_group(&catalog->groups[groups[i]], catalog, row))
            return true;
    return false;
}

static bool in_tree(const struct report *report, const struct report_row *row) {
    for (size_t i = 0; i < report->tree->n; i++)
        if (&report->view->layout->catalog->metrics[report->tree->nodes[i].metric] == row->metric)
            return true;
    return false;
}

// True for level 1 and instructions a cycle.
static bool is_outline(const struct report *report, const struct report_row *row) {
    const struct catalog *catalog = report->view->layout->catalog;
    for (size_t c = 0; c < catalog->level1.n_categories; c++)
        if (&catalog->metrics[catalog->level1.categories[c].metric] == row->metric)
            return true;
    return strcmp(row->metric->export_name, CATALOG_IPC) == 0;
}

static void put_table(const struct report *report, const struct report_text_request *request, struct text *out) {
    struct report_table table;
    report_table_init(&table, request->screen, request->scopes);
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        bool shown = request->all || (row->scope != REPORT_HOST ? is_outline(report, row)
                                                                : leads_on(report, row) && !in_tree(report, row));
        if (shown && (request->all || isfinite(row->value)))
            report_table_add(&table, report, row);
    }
    report_table_end(&table, out);
}

static void put_counts(const struct report *report, struct text *out) {
    if (report->n_events > 0)
        text_string(out, "\n");
    for (size_t i = 0; i < report->n_events; i++)
        text_format(out, "%20.0f  %s%s\n", report->events[i].count, report->events[i].name,
                    report->events[i].exact ? "" : " (estimated: it was not counted all the time)");
}

// ---- all of it ----

static bool has_level1(const struct report *report) { return report->tree->n > 0 && report->bound.n > 0; }

static const struct catalog_metric *last_of_path(const struct report *report) {
    const struct tree_node *last = &report->tree->nodes[report->bound.path[report->bound.n - 1]];
    return &report->view->layout->catalog->metrics[last->metric];
}

// Each socket has steps of its own where they differ.
static void put_next(const struct report *report, const struct screen *screen, struct text *out) {
    static const char begin[] = "Next: ";
    struct text words = {0};
    if (report->sockets_differ)
        text_format(&words, "for %s, ", view_title(last_of_path(report)));
    text_append(&words, report->texts.next.data, report->texts.next.length);
    text_string(out, begin);
    if (words.failed)
        out->failed = true;
    else
        text_folded(out, words.data, sizeof begin - 1, screen->width);
    text_free(&words);
}

static void put_answer(const struct report *report, const struct screen *screen, struct text *out) {
    const struct report_texts *texts = &report->texts;
    if (texts->answer.length > 1) {
        text_format(out, "\n%s", screen->colour ? BOLD : "");
        text_folded(out, texts->answer.data, 0, screen->width);
        text_string(out, screen->colour ? PLAIN : "");
    }
    if (texts->next.length > 1)
        put_next(report, screen, out);
    if (texts->sample.length > 1) // one line, so that it can be copied
        text_format(out, "Find the code with:\n  %s\n", texts->sample.data);
}

void report_text(const struct report *report, const struct report_text_request *request, struct text *out) {
    if (has_level1(report))
        put_tree(report, request->screen, out);
    put_table(report, request, out);
    if (request->counts)
        put_counts(report, out);
    put_answer(report, request->screen, out);
}

// ---- intervals ----

struct column {
    char name[COLUMN_NAME_MAX];
    const struct report_row *row; // NULL: it is not measured
};

// What every column has in common needs no place in its heading.
static void name_column(struct column *column, const char *name, const struct report_row *row) {
    static const char *const endings[][2] = {{"_bound", ""}, {"_per_second", "/s"}};
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

// The metrics that a line has room for: level 1 and instructions a cycle, else the first ones, with long names.
static size_t choose_columns(const struct report *report, struct column columns[COLUMNS]) {
    const struct catalog_level1 *level1 = &report->view->layout->catalog->level1;
    size_t n = 0;
    for (size_t c = 0; report->view->layout->n_level1 > 0 && c < level1->n_categories && n + 1 < COLUMNS; c++, n++)
        name_column(&columns[n], category_name(level1->categories[c].category),
                    row_of(report, level1->categories[c].metric));
    bool split = n > 0;
    for (size_t i = 0; i < report->n_rows && n < (split ? COLUMNS : COLUMNS_WIDE); i++) {
        const struct report_row *row = &report->rows[i];
        if (row->scope == REPORT_HOST && (!split || strcmp(row->metric->export_name, CATALOG_IPC) == 0))
            name_column(&columns[n++], row->metric->export_name, row);
    }
    return n;
}

static int width_of(const struct column *column) {
    int width = (int)strlen(column->name);
    return width > COLUMN_WIDTH ? width : COLUMN_WIDTH;
}

void report_text_head(const struct report *report, bool memory, struct text *out) {
    struct column columns[COLUMNS];
    size_t n = choose_columns(report, columns);
    text_format(out, "%8s", "time");
    if (report->view->core_type)
        text_format(out, " %-*s", COLUMN_WIDTH, "cores");
    for (size_t i = 0; i < n; i++)
        text_format(out, " %*s", width_of(&columns[i]), columns[i].name);
    if (memory)
        text_format(out, " %*s", REPORT_TEXT_MEMORY_WIDTH, "memory");
    text_string(out, report->tree->n > 0 ? "  bound by\n" : "\n");
}

size_t report_text_line(const struct report *report, const struct screen *screen, bool memory, struct text *out) {
    struct column columns[COLUMNS];
    char number[REPORT_NUMBER_MAX];
    size_t begin = out->length, memory_at = 0;
    size_t n = choose_columns(report, columns);
    text_format(out, "%6.1f s", report->to_seconds);
    if (report->view->core_type)
        text_format(out, " %-*s", COLUMN_WIDTH, report->view->core_type);
    for (size_t i = 0; i < n; i++) {
        int width = width_of(&columns[i]);
        const struct report_row *row = columns[i].row;
        if (!row || !isfinite(row->value))
            text_format(out, " %*s", width, "-");
        else if (report_number_is_share(row->metric))
            text_format(out, " %*.1f %%", width - 2, 100 * row->value);
        else
            text_format(out, " %*s", width,
                        report_number_write(number, row->value, REPORT_NUMBER_DIGITS) > 0 ? number : "");
    }
    if (memory) {
        memory_at = out->length + 1;
        text_format(out, " %*s", REPORT_TEXT_MEMORY_WIDTH, "-");
    }
    if (report->bound.n > 0 && report->bound.exceeded == JUDGE_YES) {
        const char *verdict = report->sockets_differ ? "the sockets differ" : view_title(last_of_path(report));
        int room = screen->width - (int)(out->length - begin) - 2;
        text_format(out, "  %.*s", room > 0 ? room : 0, verdict);
    }
    text_string(out, "\n");
    return memory_at;
}
