// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_MEMORY_H
#define TOPDOWND_EXPORTERS_JSON_JSON_MEMORY_H

// /api/v1/memory: what the kernel counts of NUMA nodes, and what resctrl counts.

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// Appends one JSON object. Returns 0 or -ENOMEM.
int json_render_memory(const struct shown *shown, struct text *out);

#endif
