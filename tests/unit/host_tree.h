// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_HOST_TREE_H
#define TOPDOWND_TESTS_UNIT_HOST_TREE_H

// A made-up host: sysfs and procfs in a temporary folder.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/host/host_linux.h"

struct host_tree {
    char root[256];
    struct host_roots roots;
    struct errors errors;
};

static inline int host_tree_setup(void **state) {
    struct host_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return -1;
    const char *folder = getenv("TMPDIR");
    (void)snprintf(tree->root, sizeof tree->root, "%s/topdownd-host-XXXXXX", folder ? folder : P_tmpdir);
    if (!mkdtemp(tree->root)) {
        free(tree);
        return -1;
    }
    tree->roots = (struct host_roots){.sysfs = tree->root, .procfs = tree->root};
    *state = tree;
    return 0;
}

static inline int host_tree_teardown(void **state) {
    struct host_tree *tree = *state;
    char command[320];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", tree->root);
    int r = system(command);
    free(tree);
    return r;
}

// Writes a file and the folders above it.
static inline void host_tree_write(const struct host_tree *tree, const char *name, const char *text) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", tree->root, name);
    for (char *slash = strchr(path + strlen(tree->root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static inline void host_tree_write_cpu(const struct host_tree *tree, unsigned cpu, const char *siblings,
                                       const char *package) {
    char name[128];
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/topology/core_cpus_list", cpu);
    host_tree_write(tree, name, siblings);
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    host_tree_write(tree, name, package);
}

static inline void host_tree_write_midr(const struct host_tree *tree, unsigned cpu, const char *text) {
    char name[128];
    (void)snprintf(name, sizeof name, "devices/system/cpu/cpu%u/regs/identification/midr_el1", cpu);
    host_tree_write(tree, name, text);
}

// A file of a PMU: "type", "cpus", "events/cpu_cycles".
static inline void host_tree_write_pmu(const struct host_tree *tree, const char *pmu, const char *file,
                                       const char *text) {
    char name[256];
    (void)snprintf(name, sizeof name, "bus/event_source/devices/%s/%s", pmu, file);
    host_tree_write(tree, name, text);
}

#endif
