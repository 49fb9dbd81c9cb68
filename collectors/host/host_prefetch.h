// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PREFETCH_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PREFETCH_H

// Which prefetchers are on: a part of collectors/host/host_platform.c.

#include "collectors/host/host_linux.h"
#include "core/host/platform.h"

// From a register of CPU `cpu` (-1: none is known) that only some CPUs have and only root may read. `devices` is the
// folder of device files; NULL: there is none.
void host_prefetch_read(const struct host_roots *roots, const char *devices, int cpu, struct platform *out);

#endif
