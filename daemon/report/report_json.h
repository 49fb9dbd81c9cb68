// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_JSON_H
#define TOPDOWND_DAEMON_REPORT_REPORT_JSON_H

// One JSON document for a measurement: what it is of, its intervals, and the whole. It is written as time goes by.

#include "daemon/report/report.h"
#include "exporters/text/json_writer.h"

struct report_json_head {
    const char *hostname;
    const char *how;      // "measured", "yielded" or "read" (docs/topdownd-measure.1)
    char *const *command; // NULL: of the system
    bool simulated;
};

void report_json_begin(struct json *json, const struct report_json_head *head);
// An interval of a core type or, after report_json_whole, the whole of it.
void report_json_add(struct json *json, const struct report *report);
void report_json_whole(struct json *json);
void report_json_end(struct json *json, int status); // of the command; -1: there was none

#endif
