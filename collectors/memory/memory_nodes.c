// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/memory_nodes.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "collectors/memory/memory_text.h"

enum { TEXT_BYTES = 4096, VMSTAT_BYTES = 32768 };
static const double MEGABYTE = 1e6, NANOSECOND = 1e-9;

static void note_problem(struct host_memory *out, const char *path, const char *wanted) {
    if (out->problem[0] == '\0')
        (void)snprintf(out->problem, sizeof out->problem, "%.256s does not hold %s, so its values are missing", path,
                       wanted);
}

// The numbers at the ends of a folder's names, ascending: of "node0", "node1" with the prefix "node". Returns how many
// there are; the lowest `max` are written.
static size_t list_numbers(const char *folder, const char *prefix, unsigned *numbers, size_t max) {
    DIR *entries = opendir(folder);
    size_t n = 0, length = strlen(prefix);
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        unsigned number;
        int end = 0;
        if (strncmp(entry->d_name, prefix, length) != 0 ||
            sscanf(entry->d_name + length, "%9u%n", &number, &end) != 1 || entry->d_name[length + (size_t)end] != '\0')
            continue;
        size_t i = n < max ? n : max;
        n++;
        for (; i > 0 && numbers[i - 1] > number; i--)
            if (i < max)
                numbers[i] = numbers[i - 1];
        if (i < max)
            numbers[i] = number;
    }
    if (entries)
        closedir(entries);
    return n;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// ---- a node ----

static void read_counts(const char *folder, struct host_memory *out, struct host_memory_node *node) {
    char path[PATH_MAX], text[TEXT_BYTES];
    struct memory_row rows[HOST_MEMORY_COUNTS_N];
    for (size_t i = 0; i < HOST_MEMORY_COUNTS_N; i++)
        rows[i] = (struct memory_row){host_memory_counts[i], &node->counts[i]};
    (void)snprintf(path, sizeof path, "%s/numastat", folder);
    if (host_file_read(path, text, sizeof text) >= 0 && memory_text_rows(text, rows, HOST_MEMORY_COUNTS_N) < 0)
        note_problem(out, path, "whole numbers");
    (void)snprintf(path, sizeof path, "%s/meminfo", folder);
    if (host_file_read(path, text, sizeof text) < 0)
        return;
    node->bytes = memory_text_size(text, "MemTotal");
    node->free_bytes = memory_text_size(text, "MemFree");
    if (isnan(node->bytes))
        note_problem(out, path, "a line MemTotal with a size in kB");
}

static int package_of(const struct host_roots *roots, unsigned cpu) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/physical_package_id", roots->sysfs, cpu);
    return (int)host_file_number(path, -1);
}

// Its socket is that of its first and its last CPU; firmware may join the memory of all sockets in one node. Where the
// list cannot be read, the node is taken for one with CPUs.
static void read_cpus(const struct host_roots *roots, const char *folder, struct host_memory *out,
                      struct host_memory_node *node) {
    char path[PATH_MAX], text[TEXT_BYTES];
    struct cpuset cpus;
    unsigned first = 0, last = CPUSET_MAX - 1;
    (void)snprintf(path, sizeof path, "%s/cpulist", folder);
    if (host_file_read(path, text, sizeof text) < 0)
        return;
    if (cpuset_parse(text, &cpus) < 0) {
        note_problem(out, path, "a list of CPUs");
        return;
    }
    while (first < CPUSET_MAX && !cpuset_has(&cpus, first))
        first++;
    if (first == CPUSET_MAX) {
        node->kind = HOST_MEMORY_WITHOUT_CPUS;
        return;
    }
    while (!cpuset_has(&cpus, last))
        last--;
    node->socket = package_of(roots, first);
    if (package_of(roots, last) != node->socket)
        node->socket = -1;
}

// Access class 1 is that of CPUs; class 0 is that of the nearest initiator of any kind. The kernel shows the table's
// numbers, which are MB/s (ACPI, Heterogeneous Memory Attribute Table) and nanoseconds.
static void read_access(const char *folder, unsigned node, struct host_memory_access *out) {
    const struct {
        const char *file;
        double *value, unit;
    } files[] = {{"read_bandwidth", &out->read_bytes_per_second, MEGABYTE},
                 {"write_bandwidth", &out->write_bytes_per_second, MEGABYTE},
                 {"read_latency", &out->read_seconds, NANOSECOND},
                 {"write_latency", &out->write_seconds, NANOSECOND}};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        long long value = 0;
        for (int number = 1; number >= 0 && value <= 0; number--) {
            (void)snprintf(path, sizeof path, "%s/access%d/initiators/%s", folder, number, files[i].file);
            value = host_file_number(path, 0);
        }
        *files[i].value = value > 0 ? (double)value * files[i].unit : NAN;
    }
    for (int number = 1; number >= 0 && !out->direct; number--) {
        (void)snprintf(path, sizeof path, "%s/access%d/initiators/node%u", folder, number, node);
        out->direct = access(path, F_OK) == 0;
    }
    (void)snprintf(path, sizeof path, "%s/memory_side_cache", folder);
    out->direct = out->direct && access(path, F_OK) < 0;
}

static void read_node(const struct host_roots *roots, unsigned id, struct host_memory *out) {
    struct host_memory_node *node = &out->nodes[out->n_nodes++];
    char folder[PATH_MAX / 2];
    *node = (struct host_memory_node){.id = id, .socket = -1, .tier = -1, .bytes = NAN, .free_bytes = NAN};
    for (size_t i = 0; i < HOST_MEMORY_COUNTS_N; i++)
        node->counts[i] = node->before[i] = NAN;
    (void)snprintf(folder, sizeof folder, "%s/devices/system/node/node%u", roots->sysfs, id);
    read_counts(folder, out, node);
    read_cpus(roots, folder, out, node);
    read_access(folder, id, &node->access);
}

// ---- tiers and devices ----

static struct host_memory_node *find_node(struct host_memory *out, long long id) {
    for (size_t i = 0; i < out->n_nodes; i++)
        if (out->nodes[i].id == id)
            return &out->nodes[i];
    return NULL;
}

static void read_tiers(const struct host_roots *roots, struct host_memory *out) {
    char folder[PATH_MAX / 2], path[PATH_MAX], text[TEXT_BYTES];
    unsigned tiers[HOST_MEMORY_NODES_MAX];
    struct cpuset nodes;
    (void)snprintf(folder, sizeof folder, "%s/devices/virtual/memory_tiering", roots->sysfs);
    size_t n = list_numbers(folder, "memory_tier", tiers, HOST_MEMORY_NODES_MAX);
    for (size_t i = 0; i < smaller(n, HOST_MEMORY_NODES_MAX); i++) {
        (void)snprintf(path, sizeof path, "%s/memory_tier%u/nodelist", folder, tiers[i]);
        if (host_file_read(path, text, sizeof text) < 0)
            continue;
        if (cpuset_parse(text, &nodes) < 0)
            note_problem(out, path, "a list of nodes");
        else
            for (size_t k = 0; k < out->n_nodes; k++)
                if (out->nodes[k].id < CPUSET_MAX && cpuset_has(&nodes, out->nodes[k].id))
                    out->nodes[k].tier = (int)tiers[i];
    }
}

// A dax device names the node that its memory is, and its place among the devices what it is.
static void read_device(const char *folder, const char *name, struct host_memory *out) {
    static const enum host_memory_kind kinds[] = {[MEMORY_TEXT_DAX_UNKNOWN] = HOST_MEMORY_WITHOUT_CPUS,
                                                  [MEMORY_TEXT_DAX_CXL] = HOST_MEMORY_CXL,
                                                  [MEMORY_TEXT_DAX_NVDIMM] = HOST_MEMORY_PERSISTENT,
                                                  [MEMORY_TEXT_DAX_SPECIAL] = HOST_MEMORY_SPECIAL};
    char path[PATH_MAX], link[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s/target_node", folder, name);
    struct host_memory_node *node = find_node(out, host_file_number(path, -1));
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    ssize_t length = node && node->kind == HOST_MEMORY_WITHOUT_CPUS ? readlink(path, link, sizeof link - 1) : -1;
    if (length < 0)
        return;
    link[length] = '\0';
    node->kind = kinds[memory_text_dax(link)];
}

static void read_devices(const struct host_roots *roots, struct host_memory *out) {
    char folder[PATH_MAX / 2];
    (void)snprintf(folder, sizeof folder, "%s/bus/dax/devices", roots->sysfs);
    DIR *entries = opendir(folder);
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
        if (entry->d_name[0] != '.')
            read_device(folder, entry->d_name, out);
    if (entries)
        closedir(entries);
}

void memory_nodes_read(const struct host_roots *roots, struct host_memory *out) {
    char folder[PATH_MAX / 2];
    unsigned ids[HOST_MEMORY_NODES_MAX];
    (void)snprintf(folder, sizeof folder, "%s/devices/system/node", roots->sysfs);
    size_t n = list_numbers(folder, "node", ids, HOST_MEMORY_NODES_MAX);
    for (size_t i = 0; i < smaller(n, HOST_MEMORY_NODES_MAX); i++)
        read_node(roots, ids[i], out);
    if (n > HOST_MEMORY_NODES_MAX && out->problem[0] == '\0')
        (void)snprintf(out->problem, sizeof out->problem,
                       "This host has %zu NUMA nodes, of which the first %d are shown; the host's totals are those of "
                       "all nodes",
                       n, HOST_MEMORY_NODES_MAX);
    read_tiers(roots, out);
    read_devices(roots, out);
}

// ---- the host's totals ----

// What /proc/vmstat has, in its units: allocations, faults, and pages.
struct vmstat {
    double local, other, miss;
    double faults, faults_local, balanced;
    double promoted, demoted[4];
    double migrated, not_migrated;
};

static void read_vmstat(const struct host_roots *roots, struct vmstat *found, struct host_memory *out) {
    const struct memory_row rows[] = {{"numa_local", &found->local},
                                      {"numa_other", &found->other},
                                      {"numa_miss", &found->miss},
                                      {"numa_hint_faults", &found->faults},
                                      {"numa_hint_faults_local", &found->faults_local},
                                      {"numa_pages_migrated", &found->balanced},
                                      {"pgpromote_success", &found->promoted},
                                      {"pgdemote_kswapd", &found->demoted[0]},
                                      {"pgdemote_direct", &found->demoted[1]},
                                      {"pgdemote_khugepaged", &found->demoted[2]},
                                      {"pgdemote_proactive", &found->demoted[3]},
                                      {"pgmigrate_success", &found->migrated},
                                      {"pgmigrate_fail", &found->not_migrated}};
    char path[PATH_MAX], *text = malloc(VMSTAT_BYTES);
    (void)snprintf(path, sizeof path, "%s/vmstat", roots->procfs);
    if (text && host_file_read(path, text, VMSTAT_BYTES) > 0 &&
        memory_text_rows(text, rows, sizeof rows / sizeof *rows) < 0)
        note_problem(out, path, "whole numbers");
    free(text);
}

// The sum of those that the kernel has: older ones have fewer ways to demote a page.
static double sum_known(const double *values, size_t n) {
    double sum = NAN;
    for (size_t i = 0; i < n; i++)
        sum = isnan(values[i]) ? sum : values[i] + (isnan(sum) ? 0 : sum);
    return sum;
}

// Of two counts that go on while they are read.
static double difference(double all, double part) {
    double rest = all - part;
    return rest < 0 ? 0 : rest;
}

void memory_nodes_read_totals(const struct host_roots *roots, struct host_memory *out) {
    const double page = (double)sysconf(_SC_PAGESIZE);
    struct vmstat found = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN, NAN, NAN}, NAN, NAN};
    if (out->n_nodes < 2)
        return;
    read_vmstat(roots, &found, out);
    out->totals[HOST_MEMORY_LOCAL] = found.local;
    out->totals[HOST_MEMORY_REMOTE] = found.other;
    out->totals[HOST_MEMORY_MISSED] = found.miss;
    out->totals[HOST_MEMORY_HINT_LOCAL] = found.faults_local;
    out->totals[HOST_MEMORY_HINT_REMOTE] = difference(found.faults, found.faults_local);
    out->totals[HOST_MEMORY_BALANCED] = page * found.balanced;
    out->totals[HOST_MEMORY_MIGRATED] = found.migrated;
    out->totals[HOST_MEMORY_NOT_MIGRATED] = found.not_migrated;
    if (host_memory_tiered(out)) {
        out->totals[HOST_MEMORY_PROMOTED] = page * found.promoted;
        out->totals[HOST_MEMORY_DEMOTED] =
            page * sum_known(found.demoted, sizeof found.demoted / sizeof *found.demoted);
    }
}
