// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_TOPOLOGY_H
#define TOPDOWND_CORE_HOST_TOPOLOGY_H

// The CPUs that are measured, the cores and the sockets they belong to.

#include <stdbool.h>
#include <stddef.h>

struct topology_cpu {
    unsigned id;     // the kernel's number
    unsigned core;   // index of the physical core, 0 to n_cores - 1: SMT siblings share it
    unsigned socket; // index into sockets
};

struct topology {
    struct topology_cpu *cpus; // ascending by id
    size_t n_cpus;
    size_t n_cores;
    struct topology_socket {
        unsigned id;       // the kernel's physical_package_id
        unsigned cores;    // measured
        unsigned measured; // CPUs
        unsigned excluded; // CPUs that are online and were not selected
        bool whole_cores;  // no CPU that was not selected is a sibling of a measured one
    } * sockets;
    size_t n_sockets;
    double maximum_frequency_hz; // of one core; 0: unknown
};

// One CPU as a host describes it. SMT siblings have the same core and package, and no other CPU has both; -1: unknown.
struct topology_source {
    unsigned id;
    int core, package;
    bool selected;
};

// Builds a topology of the selected ones of `n` CPUs, which must ascend by id. Returns 0, -ENOMEM, or -EINVAL where
// none is selected or ids repeat.
int topology_new(const struct topology_source *cpus, size_t n, double maximum_frequency_hz, struct topology **out);
// NULL where memory is short.
struct topology *topology_copy(const struct topology *topology);

// Whether what is summed over a scope of a snapshot (0: all CPUs, then each socket, then each CPU) is summed over whole
// cores, SMT siblings together.
bool topology_whole_cores(const struct topology *topology, size_t scope);

struct topology *topology_free(struct topology *topology);

#endif
