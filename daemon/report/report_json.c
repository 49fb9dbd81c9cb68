// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_json.h"

#include <math.h>

#include "exporters/json/json_bottlenecks.h"

static void add_row(struct json *json, const struct report *report, const struct report_row *row) {
    char unit[CATALOG_UNIT_MAX];
    report_row_unit(report, row, unit, sizeof unit);
    json_begin_object(json, NULL);
    json_string(json, "scope", report_scope_of(report, row->scope));
    if (row->scope == REPORT_HOST)
        json_null(json, "id");
    else
        json_whole(json, "id", row->id);
    json_string(json, "metric", report_row_name(row));
    json_string(json, "title", report_row_title(row));
    json_string(json, "unit", unit);
    json_number(json, "value", row->value);
    json_number(json, "low", row->low);
    json_number(json, "high", row->high);
    json_string(json, "quality", estimate_quality_name(row->quality));
    json_string(json, "quality_reason", row->quality_reason);
    json_bool(json, "exact", row->exact);
    json_string(json, "reason", row->reason[0] != '\0' ? row->reason : NULL);
    json_end_object(json);
}

static void add_event(struct json *json, const struct report_event *event) {
    json_begin_object(json, NULL);
    json_string(json, "event", event->name);
    json_number(json, "count", event->count);
    json_bool(json, "exact", event->exact);
    json_end_object(json);
}

static const char *said(const struct text *text) { return text->length > 1 ? text->data : NULL; }

static void add_bound(struct json *json, const struct report *report) {
    const struct verdict *verdict = report->verdict;
    json_string(json, "answer", said(&report->texts.answer));
    json_begin_array(json, "path");
    for (size_t i = 0; i < verdict->n; i++)
        json_string(json, NULL, report->view->layout->catalog->metrics[verdict->path[i]].export_name);
    json_end_array(json);
    if (verdict->n == 0 || verdict->high == JUDGE_UNKNOWN)
        json_null(json, "exceeded");
    else
        json_bool(json, "exceeded", verdict->high == JUDGE_YES);
    if (verdict->n == 0)
        json_null(json, "sockets_differ");
    else
        json_bool(json, "sockets_differ", report->sockets_differ);
    json_string(json, "next", said(&report->texts.next));
    json_string(json, "sample_command", said(&report->texts.sample));
}

void report_json_add(struct json *json, const struct report *report) {
    json_begin_object(json, NULL);
    json_string(json, "core_type", report->view->core_type);
    json_bool(json, "outside_cores", report->view->layout->topology->boxes);
    json_string(json, "pmu", report->view->layout->topology->boxes ? report->view->pmu : NULL);
    json_number(json, "from_seconds", report->from_seconds);
    json_number(json, "to_seconds", report->to_seconds);
    json_number(json, "cpu_seconds", report->cpu_seconds);
    add_bound(json, report);
    json_bottlenecks(json, report->view, report->snapshot, 0);
    json_begin_array(json, "metrics");
    for (size_t i = 0; i < report->n_rows; i++)
        add_row(json, report, &report->rows[i]);
    json_end_array(json);
    json_begin_array(json, "events");
    for (size_t i = 0; i < report->n_events; i++)
        add_event(json, &report->events[i]);
    json_end_array(json);
    json_end_object(json);
}

void report_json_begin(struct json *json, const struct report_json_head *head) {
    json_begin_object(json, NULL);
    json_string(json, "hostname", head->hostname);
    json_bool(json, "simulated", head->simulated);
    json_string(json, "how", head->how);
    if (head->command) {
        json_begin_array(json, "command");
        for (size_t i = 0; head->command[i]; i++)
            json_string(json, NULL, head->command[i]);
        json_end_array(json);
    } else {
        json_null(json, "command");
    }
    json_begin_array(json, "intervals");
}

void report_json_whole(struct json *json) {
    json_end_array(json);
    json_begin_array(json, "whole");
}

void report_json_end(struct json *json, int status) {
    json_end_array(json);
    if (status >= 0)
        json_whole(json, "exit_status", (uint64_t)status);
    else
        json_null(json, "exit_status");
    json_end_object(json);
}
