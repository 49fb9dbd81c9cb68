// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTML_HTML_H
#define TOPDOWND_EXPORTERS_HTML_HTML_H

// The landing page: what is measured, the last round's values, and links to the rest. It is whole without its script
// (page.js), and needs nothing from elsewhere. Core types follow one another.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// Appends the page. Returns 0 or -ENOMEM.
int html_render(const struct shown *shown, struct text *out);

#endif
