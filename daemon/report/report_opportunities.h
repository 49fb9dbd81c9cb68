// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_REPORT_REPORT_OPPORTUNITIES_H
#define TOPDOWND_DAEMON_REPORT_REPORT_OPPORTUNITIES_H

// What each action could win at most (core/spec/opportunity.h), of one core type's report: the largest bound first.

#include "daemon/report/report_number.h"
#include "exporters/text/json_writer.h"

void report_opportunities(const struct report *report, const struct screen *screen, struct text *out);

// The same as an object of a JSON array.
void report_opportunities_json(struct json *json, const struct report *report);

#endif
