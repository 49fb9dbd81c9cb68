// SPDX-License-Identifier: Apache-2.0
#include "core/host/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int source_check(const struct topology_source *cpus, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && cpus[i].id <= cpus[i - 1].id)
            return -EINVAL;
        any = any || cpus[i].selected;
    }
    return any ? 0 : -EINVAL;
}

// Index of the socket with this id, which is appended if new. Sockets keep the order of first appearance.
static unsigned topology_socket(struct topology *topology, int package) {
    unsigned id = package < 0 ? 0 : (unsigned)package; // a virtual machine may not say
    for (unsigned i = 0; i < topology->n_sockets; i++)
        if (topology->sockets[i].id == id)
            return i;
    topology->sockets[topology->n_sockets] = (struct topology_socket){.id = id, .whole_cores = true};
    return (unsigned)topology->n_sockets++;
}

static bool same_core(const struct topology_source *a, const struct topology_source *b) {
    return a->core >= 0 && a->core == b->core && a->package == b->package;
}

// Index of the core of CPU i: that of an earlier selected CPU with the same ids, or a new one.
static unsigned topology_core(struct topology *topology, const struct topology_source *cpus, size_t i,
                              const unsigned *core_of) {
    for (size_t j = 0; j < i; j++)
        if (cpus[j].selected && same_core(&cpus[i], &cpus[j]))
            return core_of[j];
    return (unsigned)topology->n_cores++;
}

// True if the unselected CPU i has a selected sibling.
static bool splits_core(const struct topology_source *cpus, size_t n, size_t i) {
    for (size_t j = 0; j < n; j++)
        if (cpus[j].selected && same_core(&cpus[i], &cpus[j]))
            return true;
    return false;
}

int topology_new(const struct topology_source *cpus, size_t n, double maximum_frequency_hz, struct topology **out) {
    int r = source_check(cpus, n);
    if (r < 0)
        return r;
    struct topology *topology = calloc(1, sizeof *topology);
    unsigned *core_of = calloc(n, sizeof *core_of);
    if (topology) {
        topology->cpus = calloc(n, sizeof *topology->cpus);
        topology->sockets = calloc(n, sizeof *topology->sockets);
        topology->maximum_frequency_hz = maximum_frequency_hz;
    }
    if (!topology || !core_of || !topology->cpus || !topology->sockets) {
        free(core_of);
        topology_free(topology);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned socket = topology_socket(topology, cpus[i].package);
        if (!cpus[i].selected) {
            topology->sockets[socket].excluded++;
            if (splits_core(cpus, n, i))
                topology->sockets[socket].whole_cores = false;
            continue;
        }
        size_t cores_before = topology->n_cores;
        core_of[i] = topology_core(topology, cpus, i, core_of);
        topology->sockets[socket].cores += topology->n_cores > cores_before;
        topology->sockets[socket].measured++;
        topology->cpus[topology->n_cpus++] =
            (struct topology_cpu){.id = cpus[i].id, .core = core_of[i], .socket = socket};
    }
    free(core_of);
    *out = topology;
    return 0;
}

struct topology *topology_copy(const struct topology *topology) {
    struct topology *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *topology;
    copy->cpus = calloc(topology->n_cpus, sizeof *copy->cpus);
    copy->sockets = calloc(topology->n_sockets, sizeof *copy->sockets);
    if (!copy->cpus || !copy->sockets)
        return topology_free(copy);
    memcpy(copy->cpus, topology->cpus, topology->n_cpus * sizeof *copy->cpus);
    memcpy(copy->sockets, topology->sockets, topology->n_sockets * sizeof *copy->sockets);
    return copy;
}

bool topology_whole_cores(const struct topology *topology, size_t scope) {
    bool whole = scope <= topology->n_sockets;
    for (size_t s = 0; s < topology->n_sockets && whole; s++)
        whole = (scope > 0 && scope != s + 1) || topology->sockets[s].whole_cores;
    return whole;
}

struct topology *topology_free(struct topology *topology) {
    if (topology) {
        free(topology->sockets);
        free(topology->cpus);
        free(topology);
    }
    return NULL;
}
