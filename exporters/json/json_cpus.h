// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_CPUS_H
#define TOPDOWND_EXPORTERS_JSON_JSON_CPUS_H

// One metric of all CPUs, and where each of them is: columns, because a thousand CPUs with all that the snapshot has of
// them are ten megabytes. docs/api.md describes every field.

#include <stddef.h>

#include "exporters/text/text.h"
#include "exporters/view/shown.h"

// As the client wrote it; NULL: not given.
struct json_cpus_query {
    const char *metric; // its exported name; not given: what the host is bound by
    const char *cpu;    // the kernel's number of a CPU: all values of this one instead, as in the snapshot
};

// Appends the document. Returns 0, -ENOMEM, or -EINVAL with the mistake in the query, cut at size - 1.
int json_render_cpus(const struct shown *shown, const struct json_cpus_query *query, struct text *out, char *error,
                     size_t size);

#endif
