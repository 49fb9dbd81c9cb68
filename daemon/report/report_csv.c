// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_csv.h"

#include <math.h>
#include <string.h>

// In quotes where the text needs them.
static void put_words(struct text *out, const char *text) {
    static const struct text_escape quotes[] = {{'"', "\"\""}, {0, NULL}};
    bool quoted = strpbrk(text, ",\"\r\n");
    text_string(out, quoted ? "\"" : "");
    text_escaped(out, text, quotes);
    text_string(out, quoted ? "\"" : "");
}

static void put_text(struct text *out, const char *text) {
    put_words(out, text);
    text_string(out, ",");
}

static void put_last(struct text *out, const char *text) {
    put_words(out, text);
    text_string(out, "\r\n");
}

// Nothing where there is no number.
static void put_number(struct text *out, double value, const char *end) {
    char number[TEXT_NUMBER_MAX];
    if (isfinite(value))
        text_append(out, number, text_number(number, value));
    text_string(out, end);
}

static void begin_row(const struct report *report, const char *kind, enum report_scope scope, unsigned id,
                      struct text *out) {
    put_number(out, report->from_seconds, ",");
    put_number(out, report->to_seconds, ",");
    put_text(out, report->view->core_type ? report->view->core_type : "");
    put_text(out, report_scope_of(report, scope));
    if (scope != REPORT_HOST)
        text_format(out, "%u", id);
    text_format(out, ",%s,", kind);
}

void report_csv_head(struct text *out) {
    text_string(out, "from_seconds,to_seconds,core_type,scope,id,kind,name,unit,value,low,high,reason\r\n");
}

void report_csv(const struct report *report, struct text *out) {
    for (size_t i = 0; i < report->n_rows; i++) {
        const struct report_row *row = &report->rows[i];
        char unit[CATALOG_UNIT_MAX];
        report_row_unit(report, row, unit, sizeof unit);
        begin_row(report, "metric", row->scope, row->id, out);
        put_text(out, report_row_name(row));
        put_text(out, unit);
        put_number(out, row->value, ",");
        put_number(out, row->low, ",");
        put_number(out, row->high, ",");
        put_last(out, row->reason);
    }
    for (size_t i = 0; i < report->n_events; i++) {
        const struct report_event *event = &report->events[i];
        begin_row(report, "event", REPORT_HOST, 0, out);
        put_text(out, event->name);
        put_text(out, "events");
        put_number(out, event->count, ",");
        put_number(out, event->exact ? event->count : NAN, ",");
        put_number(out, event->exact ? event->count : NAN, ",");
        put_last(out, "");
    }
}
