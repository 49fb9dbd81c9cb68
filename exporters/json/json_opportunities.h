// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_OPPORTUNITIES_H
#define TOPDOWND_EXPORTERS_JSON_JSON_OPPORTUNITIES_H

// What each action could win at most on a core type (core/spec/opportunity.h), as JSON.

#include "exporters/json/json.h"

// The page of one core type. Returns 0 or -ENOMEM.
int json_render_opportunities(const struct shown *shown, size_t type, struct text *out);

// "actions": all that the CPU's spec has a bound for, measured or not.
void json_actions(struct json *json, const struct view *view, const struct snapshot *snapshot);

#endif
