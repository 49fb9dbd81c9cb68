// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/pmu_mask.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/host/host_file.h"

enum { PATH_BYTES = 512, LIST_BYTES = 4096, CACHES_MAX = 8, LAST_LEVEL = 3 };

static int read_list(const char *path, struct cpuset *out) {
    char text[LIST_BYTES];
    ssize_t length = host_file_read(path, text, sizeof text);
    return length < 0 ? (int)length : cpuset_parse(text, out) < 0 ? -EINVAL : 0;
}

// ---- masks ----

int pmu_mask_online(const struct host_roots *roots, struct cpuset *out) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/online", roots->sysfs);
    return read_list(path, out);
}

int pmu_mask_read(const struct host_roots *roots, const char *pmu, int own, struct cpuset *out) {
    char path[PATH_BYTES];
    struct cpuset online;
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/cpumask", roots->sysfs, pmu);
    int r = read_list(path, out);
    if (r != -ENOENT)
        return r;
    if (pmu_mask_online(roots, &online) < 0)
        return -ENODATA;
    unsigned first = cpuset_next(&online, 0);
    *out = (struct cpuset){{0}};
    if (own >= 0 && cpuset_has(&online, (unsigned)own))
        cpuset_add(out, (unsigned)own);
    else if (first < CPUSET_MAX)
        cpuset_add(out, first);
    return 0;
}

// ---- places ----

static int read_number(const char *path) {
    long long number = host_file_number(path, -1);
    return number < 0 || number > INT_MAX ? -1 : (int)number;
}

static void add_list(const char *path, struct cpuset *around) {
    struct cpuset cpus;
    if (read_list(path, &cpus) < 0)
        return;
    for (size_t i = 0; i < sizeof cpus.words / sizeof *cpus.words; i++)
        around->words[i] |= cpus.words[i];
}

// A part that files of the CPU's topology name. Adds the CPUs in it.
static int look_at_topology(const struct host_roots *roots, unsigned cpu, const char *number, const char *list,
                            struct cpuset *around) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/%s", roots->sysfs, cpu, list);
    add_list(path, around);
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/%s", roots->sysfs, cpu, number);
    return read_number(path);
}

static int look_at_cache(const struct host_roots *roots, unsigned cpu, struct cpuset *around) {
    char path[PATH_BYTES];
    for (int i = 0; i < CACHES_MAX; i++) {
        int length = snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cache/index%d/", roots->sysfs, cpu, i);
        size_t left = length > 0 && (size_t)length < sizeof path ? sizeof path - (size_t)length : 0;
        (void)snprintf(path + length, left, "level");
        if (left == 0 || read_number(path) != LAST_LEVEL)
            continue;
        (void)snprintf(path + length, left, "shared_cpu_list");
        add_list(path, around);
        (void)snprintf(path + length, left, "id");
        return read_number(path);
    }
    return -1;
}

// Notes the node with the mask's CPUs that it has.
static void look_at_node(const struct host_roots *roots, const char *name, struct uncore_mask *mask) {
    char path[PATH_BYTES];
    struct cpuset cpus;
    unsigned number;
    int end = 0;
    if (sscanf(name, "node%5u%n", &number, &end) != 1 || name[end] != '\0')
        return;
    (void)snprintf(path, sizeof path, "%s/devices/system/node/node%u/cpulist", roots->sysfs, number);
    if (read_list(path, &cpus) < 0)
        return;
    for (size_t i = 0; i < mask->n; i++) {
        if (!cpuset_has(&cpus, mask->cpus[i]))
            continue;
        mask->places[i].node = (int)number;
        add_list(path, &mask->around[UNCORE_PART_NODE]);
    }
}

static void look_at_nodes(const struct host_roots *roots, struct uncore_mask *mask) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/node", roots->sysfs);
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        look_at_node(roots, entry->d_name, mask);
    if (folder)
        closedir(folder);
}

static void look_at_cpu(const struct host_roots *roots, unsigned cpu, struct uncore_mask *mask, size_t i) {
    struct cpuset *around = mask->around;
    mask->cpus[i] = cpu;
    mask->places[i] = (struct uncore_place){
        .package =
            look_at_topology(roots, cpu, "physical_package_id", "package_cpus_list", &around[UNCORE_PART_PACKAGE]),
        .die = look_at_topology(roots, cpu, "die_id", "die_cpus_list", &around[UNCORE_PART_DIE]),
        .node = -1,
        .cache = look_at_cache(roots, cpu, &around[UNCORE_PART_CACHE]),
        .core = look_at_topology(roots, cpu, "core_id", "core_cpus_list", &around[UNCORE_PART_CORE])};
}

int pmu_mask_look(const struct host_roots *roots, const struct cpuset *cpus, struct uncore_mask *out) {
    size_t n = cpuset_count(cpus), i = 0;
    *out = (struct uncore_mask){
        .n = n, .cpus = calloc(n + 1, sizeof *out->cpus), .places = calloc(n + 1, sizeof *out->places)};
    if (!out->cpus || !out->places) {
        uncore_mask_deinit(out);
        return -ENOMEM;
    }
    for (unsigned cpu = cpuset_next(cpus, 0); i < n; cpu = cpuset_next(cpus, cpu + 1))
        look_at_cpu(roots, cpu, out, i++);
    look_at_nodes(roots, out);
    return 0;
}
