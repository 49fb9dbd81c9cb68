// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_HTML_PARTS_H
#define TOPDOWND_EXPORTERS_HTML_HTML_PARTS_H

// What the parts of the page share.

#include "exporters/view/text.h"
#include "exporters/view/view.h"

// Text that comes from a file or from the host.
void html_put(struct text *out, const char *string);

// A number for people: four digits are what a round's measurement is good for.
void html_put_number(struct text *out, double value);

// "+- half the width" after a value, both times `scale`; nothing where there is no interval.
void html_put_margin(struct text *out, double value, double high, double scale);

// What the host is bound by, and the tree that says so; nothing where no tree is measured. Returns 0 or -ENOMEM.
int html_tree_render(const struct view *view, const struct snapshot *snapshot, struct text *out);

#endif
