// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_TOPOLOGY_H
#define TOPDOWND_CORE_HOST_TOPOLOGY_H

// The measured CPUs, their cores and their sockets.

#include <stdbool.h>
#include <stddef.h>

struct topology_cpu {
    unsigned id;     // the kernel's number
    unsigned core;   // index of the physical core, 0 to n_cores - 1: SMT siblings share it
    unsigned socket; // index into sockets
};

enum { TOPOLOGY_PMU_MAX = 64 };

// Where the most that a memory can move is known from.
enum topology_peak {
    TOPOLOGY_PEAK_UNKNOWN,
    TOPOLOGY_PEAK_HOST,       // the host, or the simulated one
    TOPOLOGY_PEAK_CONFIGURED, // the configuration, which wins
    TOPOLOGY_PEAK_FIRMWARE,   // rated by the firmware, where nobody knows better
    TOPOLOGY_PEAKS_N
};

struct topology {
    struct topology_cpu *cpus; // ascending by id
    size_t n_cpus;
    size_t n_cores;
    struct topology_socket {
        unsigned id;       // the kernel's physical_package_id
        unsigned cores;    // measured
        unsigned measured; // CPUs
        unsigned excluded; // online CPUs that were not selected
        unsigned isolated; // online CPUs that were not selected because they are isolated; not in `excluded`
        bool whole_cores;  // no unselected CPU is a sibling of a measured one
        double memory_bytes_per_second; // the most that its memory can move; 0: unknown, or boxes of another kind
        enum topology_peak peak;        // where that is from
    } * sockets;
    size_t n_sockets;
    double maximum_frequency_hz; // of one core; 0: unknown
    bool boxes;                  // these are PMUs outside the cores (core/uncore/uncore.h) in the place of CPUs
    struct topology_box {
        char pmu[TOPOLOGY_PMU_MAX]; // the kernel's name
        int cpu;                    // the kernel's number of the CPU that reads it; -1: unknown
        int node;                   // NUMA node; -1: unknown
    } * box_facts;                  // of the box with the number i; NULL: unknown
    size_t n_box_facts;
    struct topology_place {
        int node;  // NUMA node; -1: unknown
        int cache; // the kernel's number of the last-level cache; -1: unknown
    } * places;    // of each CPU; NULL: unknown
};

// One CPU as a host describes it. SMT siblings have the same core and package, and no other CPU has both; -1: unknown.
struct topology_source {
    unsigned id;
    int core, package;
    bool selected;
};

// Builds a topology of the selected CPUs among `n`, which must ascend by id. Returns 0, -ENOMEM, or -EINVAL if none is
// selected or ids repeat.
int topology_new(const struct topology_source *cpus, size_t n, double maximum_frequency_hz, struct topology **out);
// NULL if out of memory.
struct topology *topology_copy(const struct topology *topology);

// Tells what the boxes are; copies the facts. Returns 0 or -ENOMEM.
int topology_set_boxes(struct topology *topology, const struct topology_box *facts, size_t n);

// Tells where the CPUs are; copies one place for each. Returns 0 or -ENOMEM.
int topology_set_places(struct topology *topology, const struct topology_place *places);

// Index of the CPU with this number; -1 if it is not measured.
int topology_find_cpu(const struct topology *topology, unsigned id);

// True if sums over a scope of a snapshot (0: all CPUs, then each socket, then each CPU) cover whole cores, SMT
// siblings together.
bool topology_whole_cores(const struct topology *topology, size_t scope);

// How many CPUs, or boxes, are measured in a scope, numbered as above.
size_t topology_measured(const struct topology *topology, size_t scope);

struct topology *topology_free(struct topology *topology);

// Lists the CPUs of a topology that another one lacks, such as "3-5,9"; ends in "..." if they do not fit into `size`
// bytes, at least 16. Returns their number.
size_t topology_list_missing(const struct topology *of, const struct topology *from, char *list, size_t size);

// The number of CPUs that are left alone because they are isolated.
unsigned topology_count_isolated(const struct topology *topology);

#endif
