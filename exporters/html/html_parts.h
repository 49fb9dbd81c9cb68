// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_HTML_PARTS_H
#define TOPDOWND_EXPORTERS_HTML_HTML_PARTS_H

// Helpers that the parts of the page share.

#include "exporters/view/text.h"
#include "exporters/view/view.h"
#include "exporters/view/view_history.h"

// Appends text from a file or from the host, escaped.
void html_put(struct text *out, const char *string);

// Appends a number for people: a round's measurement is worth four digits.
void html_put_number(struct text *out, double value);

// "+- half the width" of the interval after a metric's value, times `scale`; words where the interval tells nothing,
// and nothing if there is no interval.
void html_put_margin(struct text *out, const struct catalog_metric *metric, double value, double high, double scale);

// Appends the host's bottleneck and its tree; nothing if no tree is measured. Returns 0 or -ENOMEM.
int html_tree_render(const struct view *view, const struct snapshot *snapshot, struct text *out);

// Appends the host's platform; nothing if it has not been collected.
void html_platform_render(const struct view *view, struct text *out);

// Appends level 1 of a core type over the last hour, with what happened meanwhile, or only that where level 1 is
// not measured; nothing before the first snapshot.
void html_history_render(const struct view *view, const struct view_history *history, struct text *out);

#endif
