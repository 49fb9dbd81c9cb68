// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_MEMORY_HOST_H
#define TOPDOWND_TESTS_UNIT_MEMORY_HOST_H

// Made-up hosts with NUMA nodes, and with resctrl, as the kernel's files describe them.

#include "tests/unit/host_tree.h"

#include <math.h>
#include <unistd.h>

#include "collectors/memory/memory_reader.h"

__attribute__((format(printf, 3, 4))) static inline void memory_write(const struct host_tree *tree, const char *text,
                                                                      const char *name, ...) {
    char path[256];
    va_list arguments;
    va_start(arguments, name);
    (void)vsnprintf(path, sizeof path, name, arguments);
    va_end(arguments);
    host_tree_write(tree, path, text);
}

// A node's counts: hit, miss, foreign, interleaved, own and other.
static inline void memory_write_numastat(const struct host_tree *tree, unsigned node, const unsigned long counts[6]) {
    char text[256];
    (void)snprintf(
        text, sizeof text,
        "numa_hit %lu\nnuma_miss %lu\nnuma_foreign %lu\ninterleave_hit %lu\nlocal_node %lu\nother_node %lu\n",
        counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
    memory_write(tree, text, "devices/system/node/node%u/numastat", node);
}

// A node of so many GiB whose CPUs are those of the list.
static inline void memory_add_node(const struct host_tree *tree, unsigned node, const char *cpus, unsigned gigabytes) {
    const unsigned long counts[6] = {1000, 10, 20, 30, 900 + node, 110};
    char text[256];
    memory_write(tree, cpus, "devices/system/node/node%u/cpulist", node);
    (void)snprintf(text, sizeof text, "Node %u MemTotal: %8lu kB\nNode %u MemFree:  %8lu kB\n", node,
                   gigabytes * 1048576UL, node, gigabytes * 524288UL);
    memory_write(tree, text, "devices/system/node/node%u/meminfo", node);
    memory_write_numastat(tree, node, counts);
}

static inline void memory_add_cpus(const struct host_tree *tree, unsigned first, unsigned n, const char *package) {
    for (unsigned cpu = first; cpu < first + n; cpu++)
        memory_write(tree, package, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
}

static inline void memory_write_vmstat(const struct host_tree *tree, unsigned long local, unsigned long other) {
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "nr_free_pages 100\nnuma_hit 5000\nnuma_miss 40\nnuma_foreign 40\nnuma_interleave 60\nnuma_local %lu\n"
        "numa_other %lu\npgpromote_success 6\npgpromote_candidate 9\npgdemote_kswapd 3\npgdemote_direct 4\n"
        "numa_pte_updates 900\nnuma_hint_faults 800\nnuma_hint_faults_local 600\nnuma_pages_migrated 50\n"
        "pgmigrate_success 70\npgmigrate_fail 2\n",
        local, other);
    host_tree_write(tree, "vmstat", text);
}

static inline void memory_two_sockets(const struct host_tree *tree) {
    memory_add_cpus(tree, 0, 2, "0\n");
    memory_add_cpus(tree, 2, 2, "1\n");
    memory_add_node(tree, 0, "0-1\n", 64);
    memory_add_node(tree, 1, "2-3\n", 64);
    memory_write_vmstat(tree, 4000, 1000);
}

// Reads at `seconds`, everything that there is.
static inline struct host_memory *memory_read_at(struct memory_reader *reader, unsigned seconds) {
    const struct memory_reader_choice all = {.nodes = true, .resctrl = true};
    unsigned interrupts;
    struct host_memory *memory = memory_reader_read(
        reader, all, (struct memory_reader_time){seconds * UINT64_C(1000000000), 1.7e9 + seconds}, &interrupts);
    assert_non_null(memory);
    return memory;
}

#endif
