// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_SCOPES_H
#define TOPDOWND_CORE_COUNTS_SCOPES_H

// Scopes of sums: the whole host (scope 0), then each socket, then each CPU. Maps scopes to CPUs and CPUs to scopes.

#include "core/base/lanes.h"
#include "core/host/topology.h"

static inline size_t scope_of_socket(size_t socket) { return 1 + socket; }
static inline size_t scope_of_cpu(const struct topology *topology, size_t cpu) { return 1 + topology->n_sockets + cpu; }
static inline size_t scope_count(const struct topology *topology) { return scope_of_cpu(topology, topology->n_cpus); }

// Scopes whose values are computed together are a batch: the host alone and each socket alone, in all lanes alike; then
// blocks of CPUs, one in each lane.
static inline size_t scope_batches(const struct topology *topology) {
    return scope_of_cpu(topology, 0) + lanes_blocks(topology->n_cpus);
}
// A scope's batch and lane there.
static inline size_t scope_batch(const struct topology *topology, size_t scope) {
    size_t first = scope_of_cpu(topology, 0);
    return scope < first ? scope : first + (scope - first) / LANES;
}
static inline size_t scope_lane(const struct topology *topology, size_t scope) {
    size_t first = scope_of_cpu(topology, 0);
    return scope < first ? 0 : (scope - first) % LANES;
}

// A batch's scopes: n scopes from `first` on.
struct scope_range {
    size_t first, n;
};
static inline struct scope_range scopes_of_batch(const struct topology *topology, size_t batch) {
    size_t first = scope_of_cpu(topology, 0), at = first + (batch - first) * LANES, rest = scope_count(topology) - at;
    return batch < first ? (struct scope_range){batch, 1} : (struct scope_range){at, rest < LANES ? rest : LANES};
}

// A scope's CPUs, ascending.
struct scope_cpus {
    const unsigned *cpus;
    size_t n;
};

// The scopes of a CPU: the host, its socket, itself.
enum { SCOPES_OF_CPU = 3 };
struct cpu_scopes {
    size_t scope[SCOPES_OF_CPU];
};

struct scopes {
    const struct topology *topology; // borrowed
    size_t n;
    unsigned *cpus; // ascending, then once more by socket
    size_t *socket; // [socket]: where its CPUs begin in `cpus`; one more for the end
};

// `topology` must outlive it. NULL if out of memory.
struct scopes *scopes_new(const struct topology *topology);
struct scopes *scopes_free(struct scopes *scopes);

struct scope_cpus scopes_cpus(const struct scopes *scopes, size_t scope);

static inline struct cpu_scopes scopes_of_cpu(const struct scopes *scopes, size_t cpu) {
    const struct topology *topology = scopes->topology;
    return (struct cpu_scopes){{0, scope_of_socket(topology->cpus[cpu].socket), scope_of_cpu(topology, cpu)}};
}

// The scope with the same CPUs that holds this one's values: the host for an only socket.
static inline size_t scopes_own(const struct scopes *scopes, size_t scope) {
    return scope == scope_of_socket(0) && scopes->topology->n_sockets == 1 ? 0 : scope;
}

size_t scopes_n_cores(const struct scopes *scopes, size_t scope);

#endif
