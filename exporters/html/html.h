// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_HTML_H
#define TOPDOWND_EXPORTERS_HTML_HTML_H

// The short page without scripts, for browsers that have none: what the host is bound by, level 1, and links to the
// rest. Everything else is on the page for people (exporters/page). Core types follow one another.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// Appends the page. Returns 0 or -ENOMEM.
int html_render(const struct shown *shown, struct text *out);

#endif
