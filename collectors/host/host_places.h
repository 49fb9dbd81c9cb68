// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PLACES_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PLACES_H

// Where CPUs are: the kernel's numbers of their NUMA node and of their last-level cache
// (Documentation/ABI/stable/sysfs-devices-node and testing/sysfs-devices-system-cpu: cache/index3/id).

#include "collectors/host/host_linux.h"

// Tells the topology. What no file says stays unknown. Returns 0 or -ENOMEM.
int host_places_read(const struct host_roots *roots, struct topology *topology);

#endif
