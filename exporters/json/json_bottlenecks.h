// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_BOTTLENECKS_H
#define TOPDOWND_EXPORTERS_JSON_JSON_BOTTLENECKS_H

// What would help how much in a scope (core/diagnosis/bottlenecks.h), as JSON.

#include "exporters/text/json_writer.h"
#include "exporters/view/view.h"

// "bottlenecks": the largest first, then those that are not known; empty where the CPU counts no pipeline slots.
void json_bottlenecks(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope);

#endif
