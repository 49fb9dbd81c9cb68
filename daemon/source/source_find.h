// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_FIND_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_FIND_H

#include "daemon/source/source.h"

// Decides for each type of cores that the host has and that there is a spec and a PMU for, `out` in the order of their
// first CPUs; at least one, since a host without a hardware PMU has the kernel's software events. Says what it lacks,
// and where the vendor's files have nothing for its CPU, which then has our own spec. --pmu says whether it is this
// host, a simulated one or a recording. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM; what is in `out` is
// the caller's to free also then.
int source_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                size_t *n);

#endif
