// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_H
#define TOPDOWND_EXPORTERS_HTML_H

// The landing page: what is measured, the last round's values, and where to find the rest. No script, nothing loaded
// from elsewhere.

#include "exporters/text.h"
#include "exporters/view.h"

// Appends the page. Returns 0 or -ENOMEM.
int html_render(const struct view *view, const struct snapshot *snapshot, struct text *out);

#endif
