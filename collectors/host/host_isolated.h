// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_ISOLATED_H
#define TOPDOWND_COLLECTORS_HOST_HOST_ISOLATED_H

// The CPUs that the administrator wants undisturbed now: isolated at boot (isolcpus=), tickless (nohz_full=), or taken
// out of the scheduler's load balancing by cpusets, which can change at any time. The last is what isolcpus= does as
// well: no task comes to such a CPU unless somebody puts it there.
//
// cgroup v2 has isolated partitions for that. cgroup v1 has none: there a CPU is isolated if the root cpuset's
// cpuset.sched_load_balance is 0 and the CPU is in no cpuset in which it is 1 (the kernel makes scheduling domains of
// these alone; kernel/cgroup/cpuset.c, generate_sched_domains). If no cpuset is balanced at all, that is a host without
// load balancing, not one with isolated CPUs. cpuset.cpu_exclusive isolates nothing: it only keeps sibling cpusets from
// overlapping, and the tasks of the cpusets above still run there. The v1 hierarchy is sought where systemd mounts it,
// at fs/cgroup/cpuset in sysfs.

#include "collectors/host/host_linux.h"

// Since Linux 6.7 the root cgroup lists the CPUs of all isolated partitions, nested ones included. Linux 6.1 to 6.6
// have no list; there the partitions themselves are read. The empty set if the kernel says nothing.
void host_isolated_cpus(const struct host_roots *roots, struct cpuset *out);

#endif
