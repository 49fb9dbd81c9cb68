// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_PARTS_H
#define TOPDOWND_EXPORTERS_JSON_JSON_PARTS_H

// What stands in more than one of the JSON pages. Each function adds members to the object that is open.

#include "exporters/json/json.h"
#include "exporters/view/json_writer.h"
#include "exporters/view/view.h"

// Begins the document's object: with "core_type" where the host has several.
struct json json_begin_document(const struct view *view, struct text *out, enum json_layout layout);

// What is shown and of when: "simulated" to "scope".
void json_moment(struct json *json, const struct view *view, const struct snapshot *snapshot, enum json_scope scope);

// How many objects a scope has, which one of the snapshot's scopes the i-th is, and what says in it what it is about.
size_t json_scope_count(const struct view *view, enum json_scope scope);
size_t json_scope_index(const struct view *view, enum json_scope scope, size_t i);
void json_scope_name(struct json *json, const struct view *view, enum json_scope scope, size_t i);

// "low", "high", "windows", "share_of_time" and "quality" of a metric of the plan; -1: of one that is not in it.
void json_trust(struct json *json, const struct snapshot *snapshot, size_t scope, int metric);

// "attention": what happened so often in the last round that it needs a cause.
void json_attention(struct json *json, const struct view *view, const struct snapshot *snapshot);

#endif
