// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PMU_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PMU_H

// What the kernel's files below /sys/bus/event_source/devices/PMU say about how its events are written. Names with a
// '/', or that begin with '.', are of no PMU.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/host/host_linux.h"
#include "core/spec/event_format.h"

// The terms of the PMU, in byte order. One that we do not understand (of a number that we do not know) is left out:
// only the events that use it cannot be encoded. -ENOENT where the PMU has no format, -ENOMEM.
int host_pmu_format(const struct host_roots *roots, const char *pmu, struct event_format **out);

// The terms of an event that the kernel names, such as "event=0x00,umask=0x04" of `slots`. -ENOENT where it does not,
// -EINVAL where what it says is no such text, or longer than `size`.
int host_pmu_alias(const struct host_roots *roots, const char *pmu, const char *event, char *out, size_t size);

// Whether the PMU names CPUs in a file `cpumask`: then it counts for a socket or a die, on one CPU of each.
bool host_pmu_has_cpumask(const struct host_roots *roots, const char *pmu);

// A number that the PMU says of itself, such as `slots`. -ENOENT where it does not, -EINVAL where it is no number.
int host_pmu_cap(const struct host_roots *roots, const char *pmu, const char *cap, uint64_t *out);

#endif
