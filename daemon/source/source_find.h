// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_FIND_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_FIND_H

#include "daemon/source/source.h"

// Finds a source for each core type with a spec and a PMU, in the order of their first CPUs; at least one, since a host
// without a hardware PMU has the kernel's software events. Reports what the host lacks, and a CPU that the vendor's
// files do not cover, which then uses the shipped spec. --pmu selects this host, a simulated one or a recording.
// Returns 0, -EINVAL with the reason in `errors`, -ENOMEM; even then the caller frees the sources in `out`.
int source_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                size_t *n);

#endif
