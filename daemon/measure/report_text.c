// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporters/view/table.h"
#include "exporters/view/view_next.h"

enum {
    TITLE_WIDTH = 26,
    INDENT = 2,
    BAR_LEAST = 8,
    VALUE_WIDTH = 20,
    NUMBER_MAX = 48,
    COLUMNS = 5,
    COLUMNS_WIDE = 4,
    COLUMN_WIDTH = 8,
    COLUMN_NAME_MAX = 24,
    DIGITS = 4,
    DIGITS_OF_INTERVAL = 2,
    DECIMALS_MOST = 9,
    SAID_ONCE = 2, // and not for each line
    EIGHTHS = 8
};
static const char BOLD[] = "\033[1m", RED[] = "\033[31m", PLAIN[] = "\033[0m";

// ---- numbers ----

// A number of so many digits that count, and never with an exponent.
static int format_number(char *out, size_t size, double value, int digits) {
    double magnitude = fabs(value);
    int before = magnitude > 0 ? 1 + (int)floor(log10(magnitude)) : digits;
    int after = before >= digits ? 0 : digits - before;
    return snprintf(out, size, "%.*f", after < DECIMALS_MOST ? after : DECIMALS_MOST, value);
}

static bool is_share(const struct catalog_metric *metric) {
    static const char share[] = "share of ";
    return metric->domain != METRIC_OTHER || metric->export_scale == 0.01 ||
           strncmp(metric->units, share, sizeof share - 1) == 0;
}

static const char *plus_minus(const struct screen *screen) { return screen->utf8 ? "±" : "+-"; }

// The value, and half of its interval where it has one: "12.3 % ±0.2". Returns its width on the screen.
static int put_value(const struct report_row *row, const struct screen *screen, struct text *out) {
    char number[NUMBER_MAX], interval[NUMBER_MAX] = "";
    bool share = is_share(row->metric);
    double scale = share ? 100 : 1, half = (row->high - row->low) / 2 * scale;
    int width = share ? snprintf(number, sizeof number, "%5.1f %%", scale * row->value)
                      : format_number(number, sizeof number, row->value, DIGITS);
    text_string(out, number);
    if (!isfinite(half))
        return width;
    if (half == 0) {
        text_string(out, " exact");
        return width + (int)sizeof " exact" - 1;
    }
    int more = share ? snprintf(interval, sizeof interval, "%.1f", half)
                     : format_number(interval, sizeof interval, half, DIGITS_OF_INTERVAL);
    text_format(out, " %s%s", plus_minus(screen), interval);
    return width + 1 + (screen->utf8 ? 1 : 2) + more;
}

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
    int width = put_value(row, screen, out);
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

static const struct table_column COLUMNS_OF_METRICS[] = {
    {"scope", "SCOPE", TABLE_TEXT},   {"metric", "METRIC", TABLE_TEXT},
    {"value", "VALUE", TABLE_NUMBER}, {"interval", "95 % INTERVAL", TABLE_TEXT},
    {"unit", "UNIT", TABLE_TEXT},
};

static void put_row(struct table *table, const struct report *report, const struct report_row *row,
                    const struct report_text_request *request) {
    char unit[CATALOG_UNIT_MAX], number[NUMBER_MAX];
    bool scopes = request->scopes;
    double half = (row->high - row->low) / 2;
    bool share = is_share(row->metric);
    report_row_unit(row, unit, sizeof unit);
    (void)format_number(number, sizeof number, row->value, DIGITS);
    if (scopes && row->scope == REPORT_HOST)
        table_text(table, report_scope_of(report, row->scope));
    else if (scopes)
        table_format(table, "%s %u", report_scope_of(report, row->scope), row->id);
    table_text(table, row->metric->export_name);
    if (share)
        table_format(table, "%.2f %%", 100 * row->value);
    else
        table_text(table, number);
    (void)format_number(number, sizeof number, half, DIGITS_OF_INTERVAL);
    if (!isfinite(half))
        table_text(table, NULL);
    else if (half == 0)
        table_text(table, "exact");
    else if (share)
        table_format(table, "%s%.2f", plus_minus(request->screen), 100 * half);
    else
        table_format(table, "%s%s", plus_minus(request->screen), number);
    table_text(table, share && strncmp(unit, "ratio", 5) == 0 ? "percent" : unit);
}

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
    struct table table = {.columns = COLUMNS_OF_METRICS + !request->scopes,
                          .n_columns = sizeof COLUMNS_OF_METRICS / sizeof *COLUMNS_OF_METRICS - !request->scopes};
    struct text rows = {0};
    size_t n_absent = 0;
    const char *why = NULL;
    bool same = true;
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        bool shown = request->all || (row->scope != REPORT_HOST ? is_outline(report, row)
                                                                : leads_on(report, row) && !in_tree(report, row));
        if (shown && isfinite(row->value))
            put_row(&table, report, row, request);
        if (!shown || isfinite(row->value) || !request->all)
            continue;
        n_absent++;
        why = why ? why : row->reason;
        same = same && strcmp(why, row->reason) == 0;
    }
    if (table.n_cells > 0 && table_print(&table, &rows) == 0) {
        text_string(out, "\n");
        text_append(out, rows.data, rows.length);
    }
    if (n_absent > 0) // of those that were asked for
        text_format(out, "%zu more %s not known: %s\n", n_absent, n_absent == 1 ? "is" : "are",
                    same ? why : "--json says why");
    out->failed = out->failed || rows.failed;
    text_free(&rows);
    table_deinit(&table);
}

static void put_counts(const struct report *report, struct text *out) {
    if (report->n_events > 0)
        text_string(out, "\n");
    for (size_t i = 0; i < report->n_events; i++)
        text_format(out, "%20.0f  %s%s\n", report->events[i].count, report->events[i].name,
                    report->events[i].exact ? "" : " (estimated: it was not counted all the time)");
}

// ---- outside the cores ----

static const struct passage {
    const char *title;
    struct {
        enum traffic traffic;
        const char *word;
    } parts[3];
} PASSAGES[] = {
    {"Memory", {{TRAFFIC_MEMORY_READ, "read"}, {TRAFFIC_MEMORY_WRITE, "written"}, {TRAFFIC_MEMORY_ALL, "moved"}}},
    {"HBM", {{TRAFFIC_HBM_READ, "read"}, {TRAFFIC_HBM_WRITE, "written"}}},
    {"Persistent memory", {{TRAFFIC_PERSISTENT_READ, "read"}, {TRAFFIC_PERSISTENT_WRITE, "written"}}},
    {"CXL memory", {{TRAFFIC_CXL_READ, "read"}, {TRAFFIC_CXL_WRITE, "written"}}},
    {"Last-level cache misses", {{TRAFFIC_LLC_MISS_LOCAL, "local"}, {TRAFFIC_LLC_MISS_REMOTE, "remote"}}},
    {"Interconnect", {{TRAFFIC_INTERCONNECT_IN, "in"}, {TRAFFIC_INTERCONNECT_OUT, "out"}}},
    {"PCIe devices", {{TRAFFIC_IO_IN, "in"}, {TRAFFIC_IO_OUT, "out"}}},
    {"Devices behind C2C", {{TRAFFIC_C2C_IN, "in"}, {TRAFFIC_C2C_OUT, "out"}}},
};

static void put_rate(const struct report_row *row, const char *word, const struct screen *screen, struct text *out) {
    static const double GIGA = 1e-9, WHOLE_TENTHS = 10;
    double value = GIGA * row->value, half = GIGA * (row->high - row->low) / 2;
    int decimals = value >= WHOLE_TENTHS ? 1 : value >= 1 ? 2 : 3;
    if (!isfinite(value)) {
        text_format(out, " %s not known: %s", word, row->reason);
        return;
    }
    text_format(out, " %.*f", decimals, value);
    if (half > 0)
        text_format(out, " %s%.*f", plus_minus(screen), decimals, half);
    text_format(out, " GB/s %s", word);
}

// What passes in a scope, from whichever report tells it; nothing where none does.
static void put_passage(const struct passage *passage, const struct report_outside *outside, enum report_scope scope,
                        unsigned id, struct text *out) {
    double peak = NAN, sum = 0;
    struct text words = {0};
    for (size_t i = 0; i < sizeof passage->parts / sizeof *passage->parts && passage->parts[i].word; i++)
        for (size_t r = 0; r < outside->n; r++) {
            const struct report *report = &outside->reports[r];
            const struct report_row *row = report_find_traffic(report, passage->parts[i].traffic, scope, id);
            if (!row)
                continue;
            text_string(&words, words.length > 0 ? "," : ":");
            put_rate(row, passage->parts[i].word, outside->screen, &words);
            sum += row->value;
            peak = fmax(peak, report_memory_peak(report, scope, id));
        }
    if (isfinite(sum / peak))
        text_format(&words, " (%.0f %% of the peak of %.0f GB/s)", 100 * sum / peak, 1e-9 * peak);
    if (words.length > 0) {
        text_format(out, "%*s%s", scope == REPORT_HOST ? INDENT : 2 * INDENT, "", passage->title);
        text_append(out, words.data, words.length);
        text_string(out, "\n");
    }
    out->failed = out->failed || words.failed;
    text_free(&words);
}

static void put_passages(const struct report_outside *outside, enum report_scope scope, unsigned id, struct text *out) {
    for (size_t i = 0; i < sizeof PASSAGES / sizeof *PASSAGES; i++)
        put_passage(&PASSAGES[i], outside, scope, id, out);
}

// The first report with most sockets has those of all.
static const struct topology *widest(const struct report_outside *outside) {
    const struct topology *found = outside->reports[0].view->layout->topology;
    for (size_t i = 1; i < outside->n; i++)
        if (outside->reports[i].view->layout->topology->n_sockets > found->n_sockets)
            found = outside->reports[i].view->layout->topology;
    return found;
}

void report_text_outside(const struct report_outside *outside, struct text *out) {
    const struct topology *topology = widest(outside);
    put_passages(outside, REPORT_HOST, 0, out);
    for (size_t s = 0; s < topology->n_sockets && outside->sockets; s++) {
        text_format(out, "%*ssocket %u\n", INDENT, "", topology->sockets[s].id);
        put_passages(outside, REPORT_SOCKET, topology->sockets[s].id, out);
    }
}

// ---- all of it ----

static bool has_level1(const struct report *report) { return report->tree->n > 0 && report->bound.n > 0; }

static void put_answer(const struct report *report, const struct screen *screen, struct text *out) {
    const struct report_texts *texts = &report->texts;
    if (texts->answer.length > 1) {
        text_format(out, "\n%s", screen->colour ? BOLD : "");
        text_folded(out, texts->answer.data, 0, screen->width);
        text_string(out, screen->colour ? PLAIN : "");
    }
    if (texts->next.length > 1) {
        text_string(out, "Next: ");
        text_folded(out, texts->next.data, 6, screen->width);
    }
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
    char number[NUMBER_MAX];
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
        else if (is_share(row->metric))
            text_format(out, " %*.1f %%", width - 2, 100 * row->value);
        else
            text_format(out, " %*s", width, format_number(number, sizeof number, row->value, DIGITS) > 0 ? number : "");
    }
    if (memory) {
        memory_at = out->length + 1;
        text_format(out, " %*s", REPORT_TEXT_MEMORY_WIDTH, "-");
    }
    if (report->bound.n > 0 && report->bound.exceeded == JUDGE_YES) {
        const struct tree_node *last = &report->tree->nodes[report->bound.path[report->bound.n - 1]];
        int room = screen->width - (int)(out->length - begin) - 2;
        text_format(out, "  %.*s", room > 0 ? room : 0,
                    view_title(&report->tree->layout->catalog->metrics[last->metric]));
    }
    text_string(out, "\n");
    return memory_at;
}
