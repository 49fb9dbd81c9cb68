// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/diagnosis/next.h"
#include "core/spec/base_unit.h"
#include "daemon/report/report_bottlenecks.h"
#include "daemon/report/report_table.h"

enum {
    TITLE_WIDTH = 26,
    INDENT = 2,
    BAR_LEAST = 8,
    VALUE_WIDTH = 20,
    NUMBER_WIDTH = 12, // of most values and their intervals
    SAID_ONCE = 2,     // and not for each line
    EIGHTHS = 8
};
static const char BOLD[] = "\033[1m", RED[] = "\033[31m", PLAIN[] = "\033[0m";

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

static bool on_path(const struct report *report, unsigned metric) {
    for (size_t i = 0; i < report->verdict->n; i++)
        if (report->verdict->path[i] == metric)
            return true;
    return false;
}

static bool is_shown(const struct report *report, size_t index) {
    const struct tree_node *node = &report->tree->nodes[index];
    int parent = report->view->layout->catalog->metrics[node->metric].parent;
    bool below = node->depth == 0 || (parent >= 0 && on_path(report, (unsigned)parent));
    return below && report_find_metric(report, node->metric);
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

// Of what the shares of the first level are: a node's bar stands beside theirs only if it is a share of the same. NULL:
// they are no shares.
static const char *tree_whole(const struct report *report) {
    const struct tree *tree = report->tree;
    const struct catalog_metric *first = &tree->layout->catalog->metrics[tree->nodes[0].metric];
    return first->domain == METRIC_OTHER ? NULL : view_whole(first);
}

static bool has_bar(const struct report *report, const struct catalog_metric *metric) {
    const char *whole = tree_whole(report);
    return whole && metric->domain != METRIC_OTHER && strcmp(view_whole(metric), whole) == 0;
}

// The unit of a node without a bar behind its value, which begins at `column`: below it where the row has no room.
static void put_unit(const struct report_row *row, const struct screen *screen, int indent, int column, int width,
                     struct text *out) {
    char unit[CATALOG_UNIT_MAX], words[CATALOG_UNIT_MAX + sizeof "of "];
    catalog_metric_unit(row->metric, unit, sizeof unit);
    const char *whole = base_unit_whole(unit);
    if (row->metric->domain != METRIC_OTHER)
        (void)snprintf(words, sizeof words, "of %s", view_whole(row->metric));
    else
        (void)snprintf(words, sizeof words, "%s", whole ? whole : unit);
    int more = width < NUMBER_WIDTH ? NUMBER_WIDTH - width : 0;
    if (!screen->ends || column + width + more + 1 + (int)strlen(words) <= screen->width)
        text_format(out, "%*s %s", more, "", words);
    else
        text_format(out, "\n%*s%s", indent + INDENT, "", words);
}

static void put_node(const struct report *report, const struct screen *screen, int title, size_t index,
                     struct text *out) {
    const struct tree_node *node = &report->tree->nodes[index];
    const struct report_row *row = report_find_metric(report, node->metric);
    bool marked = on_path(report, node->metric) && verdict_high(report->verdict) && screen->colour;
    int indent = INDENT * (1 + (int)node->depth), room = title > indent ? title - indent : 0;
    text_format(out, "%s%*s%-*.*s ", marked ? RED : "", indent, "", room, room, view_title(row->metric));
    if (!isfinite(row->value)) {
        text_format(out, "not known: %s%s\n", row->reason, marked ? PLAIN : "");
        return;
    }
    int width = report_number_put(row, screen, out);
    if (has_bar(report, row->metric)) {
        text_format(out, "%*s ", width < VALUE_WIDTH ? VALUE_WIDTH - width : 0, "");
        put_bar(row->value, screen->width - title - VALUE_WIDTH - 3, screen, out);
    } else {
        put_unit(row, screen, indent, title + 1, width, out);
    }
    text_format(out, "%s\n", marked ? PLAIN : "");
}

// Why nothing is known of a node that is shown; NULL: it has a value, or is not shown.
static const char *unknown_why(const struct report *report, size_t index) {
    const struct report_row *row =
        is_shown(report, index) ? report_find_metric(report, report->tree->nodes[index].metric) : NULL;
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
    const char *whole = tree_whole(report);
    if (whole)
        text_format(out, "%*sShares of %s\n", INDENT, "", whole);
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
    unsigned groups[NEXT_GROUPS_MAX];
    if (strcmp(row->metric->export_name, CATALOG_IPC) == 0)
        return true;
    if (!verdict_high(report->verdict))
        return false;
    size_t n = next_groups(report->view->layout->plan, (unsigned)verdict_metric(report->verdict), groups);
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

static bool has_level1(const struct report *report) { return report->tree->n > 0 && report->verdict->n > 0; }

// Each socket has steps of its own where they differ.
static void put_next(const struct report *report, const struct screen *screen, struct text *out) {
    static const char begin[] = "Next: ";
    struct text words = {0};
    if (report->sockets_differ)
        text_format(&words, "for %s, ", view_title(report_last(report)));
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
    report_bottlenecks(report, request->screen, out);
    put_table(report, request, out);
    if (request->counts)
        put_counts(report, out);
    put_answer(report, request->screen, out);
}
