// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PLATFORM_CPUS_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PLATFORM_CPUS_H

// What each CPU has a file of its own for: a pass over the online CPUs, for collectors/host/host_platform.c.

#include "collectors/host/host_linux.h"
#include "core/host/platform.h"

struct host_platform_cpus; // private

// Begins a pass. Borrows the paths of the roots. NULL if out of memory.
struct host_platform_cpus *host_platform_cpus_new(const struct host_roots *roots);
struct host_platform_cpus *host_platform_cpus_free(struct host_platform_cpus *pass); // returns NULL, takes NULL

// Looks at up to `max` CPUs more. True if that were the last ones.
bool host_platform_cpus_look(struct host_platform_cpus *pass, size_t max);

// Sets what the pass has found.
void host_platform_cpus_finish(const struct host_platform_cpus *pass, struct platform *out);

// The first online CPU that is not isolated, else the first one; -1: none is known.
int host_platform_cpus_first(const struct host_platform_cpus *pass);

#endif
