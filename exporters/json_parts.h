// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_PARTS_H
#define TOPDOWND_EXPORTERS_JSON_PARTS_H

// What stands in more than one of the JSON pages.

#include "exporters/json_object.h"
#include "exporters/view.h"

// "attention": what happened so often in the last round that it needs a cause.
void json_attention(struct json *json, const struct view *view, const struct snapshot *snapshot);

#endif
