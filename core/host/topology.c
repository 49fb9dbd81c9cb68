// SPDX-License-Identifier: Apache-2.0
#include "core/host/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/cpuset.h"

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

// One of the source's CPUs.
struct place {
    const struct topology_source *cpu;
};

static int compare_numbers(int a, int b) { return (a > b) - (a < b); }

// Orders SMT siblings side by side.
static int compare_places(const void *a, const void *b) {
    const struct topology_source *x = ((const struct place *)a)->cpu, *y = ((const struct place *)b)->cpu;
    int order = compare_numbers(x->package, y->package);
    if (order == 0)
        order = compare_numbers(x->core, y->core);
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

// Fills in the first selected CPU of the core of each CPU, n if none is. A host has up to thousands of CPUs, so this
// sorts instead of comparing each with each. Returns 0 or -ENOMEM.
static int find_firsts(const struct topology_source *cpus, size_t n, size_t *firsts) {
    struct place *places = calloc(n, sizeof *places);
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        places[i].cpu = &cpus[i];
    qsort(places, n, sizeof *places, compare_places);
    for (size_t begin = 0, end; begin < n; begin = end) {
        size_t first = n;
        for (end = begin; end < n && (end == begin || same_core(places[begin].cpu, places[end].cpu)); end++)
            if (first == n && places[end].cpu->selected)
                first = (size_t)(places[end].cpu - cpus);
        for (size_t i = begin; i < end; i++)
            firsts[places[i].cpu - cpus] = first;
    }
    free(places);
    return 0;
}

// Fills an empty topology. `firsts` and `core_of` have room for each CPU.
static int fill(struct topology *topology, const struct topology_source *cpus, size_t n, size_t *firsts,
                unsigned *core_of) {
    int r = find_firsts(cpus, n, firsts);
    for (size_t i = 0; i < n && r == 0; i++) {
        unsigned index = topology_socket(topology, cpus[i].package);
        struct topology_socket *socket = &topology->sockets[index];
        if (!cpus[i].selected) {
            socket->excluded++;
            socket->whole_cores = socket->whole_cores && firsts[i] == n;
            continue;
        }
        socket->measured++;
        socket->cores += firsts[i] == i;
        core_of[i] = firsts[i] == i ? (unsigned)topology->n_cores++ : core_of[firsts[i]];
        topology->cpus[topology->n_cpus++] =
            (struct topology_cpu){.id = cpus[i].id, .core = core_of[i], .socket = index};
    }
    return r;
}

int topology_new(const struct topology_source *cpus, size_t n, double maximum_frequency_hz, struct topology **out) {
    int r = source_check(cpus, n);
    if (r < 0)
        return r;
    struct topology *topology = calloc(1, sizeof *topology);
    unsigned *core_of = calloc(n, sizeof *core_of);
    size_t *firsts = calloc(n, sizeof *firsts);
    if (topology) {
        topology->cpus = calloc(n, sizeof *topology->cpus);
        topology->sockets = calloc(n, sizeof *topology->sockets);
        topology->maximum_frequency_hz = maximum_frequency_hz;
    }
    bool complete = topology && core_of && firsts && topology->cpus && topology->sockets;
    r = complete ? fill(topology, cpus, n, firsts, core_of) : -ENOMEM;
    free(firsts);
    free(core_of);
    if (r < 0) {
        topology_free(topology);
        return r;
    }
    *out = topology;
    return 0;
}

int topology_find_cpu(const struct topology *topology, unsigned id) {
    size_t low = 0, high = topology->n_cpus;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (topology->cpus[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < topology->n_cpus && topology->cpus[low].id == id ? (int)low : -1;
}

int topology_set_boxes(struct topology *topology, const struct topology_box *facts, size_t n) {
    struct topology_box *copy = calloc(n, sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, facts, n * sizeof *copy);
    free(topology->box_facts);
    topology->box_facts = copy;
    topology->n_box_facts = n;
    return 0;
}

int topology_set_places(struct topology *topology, const struct topology_place *places) {
    struct topology_place *copy = calloc(topology->n_cpus, sizeof *copy);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, places, topology->n_cpus * sizeof *copy);
    free(topology->places);
    topology->places = copy;
    return 0;
}

struct topology *topology_copy(const struct topology *topology) {
    struct topology *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *topology;
    copy->box_facts = NULL;
    copy->places = NULL;
    copy->cpus = calloc(topology->n_cpus, sizeof *copy->cpus);
    copy->sockets = calloc(topology->n_sockets, sizeof *copy->sockets);
    if (!copy->cpus || !copy->sockets ||
        (topology->box_facts && topology_set_boxes(copy, topology->box_facts, topology->n_box_facts) < 0) ||
        (topology->places && topology_set_places(copy, topology->places) < 0))
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

size_t topology_measured(const struct topology *topology, size_t scope) {
    if (scope == 0)
        return topology->n_cpus;
    return scope <= topology->n_sockets ? topology->sockets[scope - 1].measured : 1;
}

struct topology *topology_free(struct topology *topology) {
    if (topology) {
        free(topology->places);
        free(topology->box_facts);
        free(topology->sockets);
        free(topology->cpus);
        free(topology);
    }
    return NULL;
}

// ---- for people ----

size_t topology_list_missing(const struct topology *of, const struct topology *from, char *list, size_t size) {
    struct cpuset missing = {0};
    for (size_t i = 0; i < of->n_cpus; i++)
        if (topology_find_cpu(from, of->cpus[i].id) < 0)
            cpuset_add(&missing, of->cpus[i].id);
    cpuset_format(&missing, list, size);
    return cpuset_count(&missing);
}

unsigned topology_count_isolated(const struct topology *topology) {
    unsigned n = 0;
    for (size_t s = 0; s < topology->n_sockets; s++)
        n += topology->sockets[s].isolated;
    return n;
}
