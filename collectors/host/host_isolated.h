// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_ISOLATED_H
#define TOPDOWND_COLLECTORS_HOST_HOST_ISOLATED_H

// The CPUs that the administrator wants undisturbed now: isolated at boot (isolcpus=), tickless (nohz_full=), or in an
// isolated cpuset partition, which can come and go at any time.

#include "collectors/host/host_linux.h"

// Since Linux 6.7 the root cgroup lists the CPUs of all isolated partitions, nested ones included. Linux 6.1 to 6.6
// have no list; there the partitions themselves are read. The empty set if the kernel says nothing.
void host_isolated_cpus(const struct host_roots *roots, struct cpuset *out);

#endif
