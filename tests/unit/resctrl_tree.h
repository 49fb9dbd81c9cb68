// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_RESCTRL_TREE_H
#define TOPDOWND_TESTS_UNIT_RESCTRL_TREE_H

// resctrl on a made-up host, as files.

#include "core/memory/memory_metric.h"
#include "tests/unit/memory_host.h"

// A host of two sockets; each has `caches` last-level caches of two CPUs each, which are numbered through.
static inline void resctrl_add_caches(const struct host_tree *tree, unsigned caches) {
    char text[64];
    (void)snprintf(text, sizeof text, "0-%u\n", 4 * caches - 1);
    host_tree_write(tree, "devices/system/cpu/online", text);
    for (unsigned cpu = 0; cpu < 4 * caches; cpu++) {
        memory_add_cpus(tree, cpu, 1, cpu < 2 * caches ? "0\n" : "1\n");
        memory_write(tree, "1\n", "devices/system/cpu/cpu%u/cache/index0/level", cpu);
        memory_write(tree, "3\n", "devices/system/cpu/cpu%u/cache/index3/level", cpu);
        memory_write(tree, "2\n", "devices/system/cpu/cpu%u/cache/index2/level", cpu);
        (void)snprintf(text, sizeof text, "%u\n", cpu / 2);
        memory_write(tree, text, "devices/system/cpu/cpu%u/cache/index3/id", cpu);
    }
}

static inline void resctrl_mount(const struct host_tree *tree) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "22 27 0:20 / /sys rw - sysfs sysfs rw\n56 22 0:44 / %s/resctrl rw - resctrl resctrl rw\n",
                   tree->root);
    host_tree_write(tree, "self/mountinfo", text);
    memory_write(tree, "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n", "resctrl/info/L3_MON/mon_features");
}

// Texts of a group ("" the root, "web/" a control group) in a domain; NULL: there is no such file.
static inline void resctrl_write(const struct host_tree *tree, const char *group, unsigned domain, const char *total,
                                 const char *local) {
    memory_write(tree, "123\n", "resctrl/%smon_data/mon_L3_%02u/llc_occupancy", group, domain);
    if (total)
        memory_write(tree, total, "resctrl/%smon_data/mon_L3_%02u/mbm_total_bytes", group, domain);
    if (local)
        memory_write(tree, local, "resctrl/%smon_data/mon_L3_%02u/mbm_local_bytes", group, domain);
}

static inline void resctrl_remove(const struct host_tree *tree, const char *name) {
    char command[512];
    (void)snprintf(command, sizeof command, "rm -r '%s/%s'", tree->root, name);
    assert_int_equal(system(command), 0);
}

static inline void resctrl_assert_socket(const struct host_memory *memory, size_t i, double local, double remote) {
    assert_true(memory->n_sockets > i);
    if (memory->sockets[i].bytes.local != local || memory->sockets[i].bytes.remote != remote)
        fail_msg("socket %zu has %.0f and %.0f bytes", i, memory->sockets[i].bytes.local,
                 memory->sockets[i].bytes.remote);
}

static inline double resctrl_rate(const struct host_memory *memory, size_t socket) {
    return memory_metric_value(memory, MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, socket);
}

#endif
