// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PMU_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PMU_H

// Reads how a PMU's events are encoded from the kernel's files below /sys/bus/event_source/devices/PMU. A name that
// contains '/' or begins with '.' is no PMU's.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/host/host_linux.h"
#include "core/spec/event_format.h"

// The terms of the PMU, in byte order. An unknown term (config number) is left out; only the events that use it cannot
// be encoded. -ENOENT if the PMU has no format, -ENOMEM.
int host_pmu_format(const struct host_roots *roots, const char *pmu, struct event_format **out);

// The terms of an event that the kernel names, such as "event=0x00,umask=0x04" for `slots`. -ENOENT if the kernel does
// not name it, -EINVAL if its text is invalid or longer than `size`.
int host_pmu_alias(const struct host_roots *roots, const char *pmu, const char *event, char *out, size_t size);

// True if the PMU has a file `cpumask`: then it counts for a socket or a die, on one CPU of each.
bool host_pmu_has_cpumask(const struct host_roots *roots, const char *pmu);

// A capability that the PMU states as a number, such as `slots`. -ENOENT if it does not state it, -EINVAL if it is no
// number.
int host_pmu_cap(const struct host_roots *roots, const char *pmu, const char *cap, uint64_t *out);

#endif
