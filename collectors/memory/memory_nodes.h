// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_MEMORY_MEMORY_NODES_H
#define TOPDOWND_COLLECTORS_MEMORY_MEMORY_NODES_H

// The NUMA nodes of this host: what they are, and what the kernel has counted on them.
//
// The files are opened by name, because they are read every ten seconds at most. A node that has gone is missing from
// the next reading; the host's totals, which come from /proc/vmstat, keep what it counted.

#include "collectors/host/host_linux.h"
#include "core/memory/host_memory.h"

// Fills in the nodes in ascending order, without what was before. A file that is missing leaves its values NaN; one
// that holds anything else is the reading's problem.
void memory_nodes_read(const struct host_roots *roots, struct host_memory *out);

// Fills in the host's totals as the kernel counts them, of a host with several nodes.
void memory_nodes_read_totals(const struct host_roots *roots, struct host_memory *out);

#endif
