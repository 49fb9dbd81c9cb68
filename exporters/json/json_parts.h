// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_PARTS_H
#define TOPDOWND_EXPORTERS_JSON_JSON_PARTS_H

// The parts that several JSON pages share. Each function adds members to the open object.

#include "exporters/json/json.h"
#include "exporters/text/json_writer.h"
#include "exporters/view/view.h"

// Begins the document's object: with "core_type" if the host has several.
struct json json_begin_document(const struct view *view, struct text *out, enum json_layout layout);

// The source and time of the values: "simulated" to "scope".
void json_moment(struct json *json, const struct view *view, const struct snapshot *snapshot, enum json_scope scope);

// The number of objects in a scope; the i-th object's index among the snapshot's scopes; and the members that identify
// it.
size_t json_scope_count(const struct view *view, enum json_scope scope);
size_t json_scope_index(const struct view *view, enum json_scope scope, size_t i);
void json_scope_name(struct json *json, const struct view *view, enum json_scope scope, size_t i);

// What a value of the metric is: "unit" and "domain", and "definition", what exactly the name counts on this CPU, which
// is null for a name that only one vendor has.
void json_meaning(struct json *json, const struct catalog *catalog, const struct catalog_metric *metric);

// Which kind of PMUs outside the cores it is: "pmu" and "spec".
void json_boxes_kind(struct json *json, const struct view *view);

// "low", "high", "windows", "share_of_time", "quality", "quality_reason", "exact" and "interval_reason" of a metric of
// the plan; -1: the metric is not in the plan.
void json_trust(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope, int metric);

// "attention": what happened so often in the last round that someone should find the cause.
void json_attention(struct json *json, const struct view *view, const struct snapshot *snapshot);

// Adds the platform's facts; null if there are none.
void json_platform(struct json *json, const struct platform *platform);

#endif
