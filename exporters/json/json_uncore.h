// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_UNCORE_H
#define TOPDOWND_EXPORTERS_JSON_JSON_UNCORE_H

// /api/v1/uncore: what PMUs outside the cores tell, by socket and by box.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// Appends one JSON object. Returns 0 or -ENOMEM.
int json_render_uncore(const struct shown *shown, struct text *out);

#endif
