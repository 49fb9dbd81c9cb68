// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_places.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectors/host/host_file.h"

enum { PATH_BYTES = 512, FILE_BYTES = 16384 };

// True for a folder that is a node, such as node0, and not for possible, power or nodelist.
static bool is_node(const char *name, unsigned *number) {
    int end = 0;
    return sscanf(name, "node%5u%n", number, &end) == 1 && name[end] == '\0';
}

static void read_node(const struct host_roots *roots, unsigned number, const struct topology *topology,
                      struct topology_place *places) {
    char path[PATH_BYTES], text[FILE_BYTES];
    struct cpuset cpus;
    (void)snprintf(path, sizeof path, "%s/devices/system/node/node%u/cpulist", roots->sysfs, number);
    if (host_file_read(path, text, sizeof text) < 0 || cpuset_parse(text, &cpus) < 0)
        return; // a node of memory alone has an empty list
    for (size_t i = 0; i < topology->n_cpus; i++)
        if (cpuset_has(&cpus, topology->cpus[i].id))
            places[i].node = (int)number;
}

static void read_nodes(const struct host_roots *roots, const struct topology *topology, struct topology_place *places) {
    char path[PATH_BYTES];
    unsigned number;
    (void)snprintf(path, sizeof path, "%s/devices/system/node", roots->sysfs);
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        if (is_node(entry->d_name, &number))
            read_node(roots, number, topology, places);
    if (folder)
        closedir(folder);
}

static int read_cache(const struct host_roots *roots, unsigned cpu) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cache/index3/id", roots->sysfs, cpu);
    long long id = host_file_number(path, -1);
    return id >= 0 && id <= INT_MAX ? (int)id : -1;
}

int host_places_read(const struct host_roots *roots, struct topology *topology) {
    struct topology_place *places = calloc(topology->n_cpus, sizeof *places);
    if (!places)
        return -ENOMEM;
    for (size_t i = 0; i < topology->n_cpus; i++)
        places[i] = (struct topology_place){.node = -1, .cache = read_cache(roots, topology->cpus[i].id)};
    read_nodes(roots, topology, places);
    int r = topology_set_places(topology, places);
    free(places);
    return r;
}
