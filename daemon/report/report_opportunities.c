// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_opportunities.h"

#include <math.h>

#include "core/spec/opportunity.h"
#include "exporters/json/json_opportunities.h"

enum { INDENT = 4, TITLE_WIDTH = 30, NUMBER_WIDTH = 16 };

// The host's row of each action; NULL: the CPU has no bound for it.
static void find_rows(const struct report *report, const struct report_row *rows[OPPORTUNITY_N]) {
    for (enum opportunity action = 0; action < OPPORTUNITY_N; action++)
        rows[action] = NULL;
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        enum opportunity action = row->metric ? opportunity_of(row->metric) : OPPORTUNITY_N;
        if (action != OPPORTUNITY_N && row->scope == REPORT_HOST)
            rows[action] = row;
    }
}

// The action with the largest bound among those that are left; without any value, the first one of them.
static enum opportunity find_largest(const struct report_row *const rows[OPPORTUNITY_N]) {
    enum opportunity largest = OPPORTUNITY_N;
    for (enum opportunity action = 0; action < OPPORTUNITY_N; action++)
        if (rows[action] && (largest == OPPORTUNITY_N || rows[action]->value > rows[largest]->value ||
                             (isnan(rows[largest]->value) && !isnan(rows[action]->value))))
            largest = action;
    return largest;
}

static void put_words(const char *label, const char *words, const struct screen *screen, struct text *out) {
    struct text text = {0};
    text_format(&text, "%s%s%c", label, words, '\0');
    text_format(out, "%*s", INDENT, "");
    if (text.failed)
        out->failed = true;
    else
        text_folded(out, text.data, INDENT, screen->width);
    text_free(&text);
}

static void put_action(enum opportunity action, const struct report_row *row, const struct screen *screen,
                       struct text *out) {
    const struct opportunity_info *info = &opportunity_table[action];
    text_format(out, "\n%-*s ", TITLE_WIDTH, info->title);
    if (isnan(row->value)) {
        text_format(out, "%s\n", info->name);
        put_words("Not known: ", row->reason, screen, out);
        return;
    }
    int width = report_number_put(row, screen, out);
    text_format(out, "%*s %s\n", width < NUMBER_WIDTH ? NUMBER_WIDTH - width : 0, "", info->name);
    put_words("", info->means, screen, out);
    put_words("To do: ", info->remedy, screen, out);
    put_words("", row->metric->help, screen, out);
    if (info->experiment)
        put_words("Try it: ", info->experiment, screen, out);
}

void report_opportunities(const struct report *report, const struct screen *screen, struct text *out) {
    static const char none[] = "The spec of this CPU has no bounds: it counts no pipeline slots.\n",
                      head[] = "Pipeline slots that each action could win at most. Bounds overlap: never add them.";
    const struct report_row *rows[OPPORTUNITY_N];
    find_rows(report, rows);
    enum opportunity action = find_largest(rows);
    if (action == OPPORTUNITY_N) {
        text_string(out, none);
        return;
    }
    text_folded(out, head, 0, screen->width);
    for (; action != OPPORTUNITY_N; action = find_largest(rows)) {
        put_action(action, rows[action], screen, out);
        rows[action] = NULL;
    }
}

void report_opportunities_json(struct json *json, const struct report *report) {
    json_begin_object(json, NULL);
    json_string(json, "core_type", report->view->core_type);
    json_number(json, "from_seconds", report->from_seconds);
    json_number(json, "to_seconds", report->to_seconds);
    json_actions(json, report->view, report->snapshot);
    json_end_object(json);
}
