// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_H
#define TOPDOWND_EXPORTERS_JSON_JSON_H

// Snapshots, the Topdown tree, plan, catalog and status as JSON: docs/api.md describes every field. Absent values are
// null, with a reason. Each function renders one object; on a host with several core types the objects form an array.

#include "exporters/text/json_writer.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"
#include "exporters/view/view.h"

enum json_scope { JSON_HOST, JSON_SOCKET, JSON_CPU };

// Append one JSON object. Return 0 or -ENOMEM.
// All but the last: of one of the core types that are shown. What PMUs outside the cores tell stands with the first.
int json_render_snapshot(const struct shown *shown, size_t type, enum json_scope scope, struct text *out);
// The same of the CPU with the kernel's number `cpu` alone, or of none if it is not of this type.
int json_render_snapshot_cpu(const struct shown *shown, size_t type, unsigned cpu, struct text *out);
int json_render_topdown(const struct shown *shown, size_t type, enum json_scope scope, struct text *out);
// These depend only on the views.
int json_render_catalog(const struct shown *shown, size_t type, struct text *out);
int json_render_plan(const struct shown *shown, size_t type, struct text *out);
// The same with more members at the end, which the caller writes.
typedef void json_more(struct json *json, const struct view *view);
int json_render_plan_with(const struct shown *shown, size_t type, json_more *more, struct text *out);
int json_render_status(const struct shown *shown, size_t type, struct text *out);

#endif
