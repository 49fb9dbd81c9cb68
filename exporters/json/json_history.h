// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_HISTORY_H
#define TOPDOWND_EXPORTERS_JSON_JSON_HISTORY_H

// The history of some metrics as JSON: docs/api.md describes every field.

#include "exporters/text/text.h"
#include "exporters/view/view_history.h"

// Appends the document. Returns 0 or -ENOMEM.
int json_render_history(const struct view_history *history, struct text *out);

#endif
