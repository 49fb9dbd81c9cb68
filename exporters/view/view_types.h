// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_TYPES_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_TYPES_H

// One answer for a host with several core types. Cores of different types do different work, so the answer names what
// each type is bound by, and only says it once if all are bound by the same.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// Appends the answer as a sentence.
void view_types_text(const struct shown *shown, struct text *out);

#endif
