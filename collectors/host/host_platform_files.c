// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_platform_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_file.h"

enum { PATH_BYTES = 512, LINE_BYTES = 1024 };

// Reads the text of a line; false if it is not what this file can hold.
typedef bool parser(const char *line, struct platform *out, enum platform_key key);

// A file of the kernel: below sysfs, else below procfs.
struct file {
    enum platform_key key;
    bool proc;
    const char *name;
    const char *missing; // what it means if there is no such file
    parser *parse;
};

static bool parse_word(const char *line, struct platform *out, enum platform_key key) {
    if (line[0] == '\0')
        return false;
    platform_set_text(out, key, line);
    return true;
}

static bool parse_switch(const char *line, struct platform *out, enum platform_key key) {
    bool known = strcmp(line, "0") == 0 || strcmp(line, "1") == 0;
    if (known)
        platform_set_text(out, key, line[0] == '1' ? "on" : "off");
    return known;
}

static bool parse_inverted(const char *line, struct platform *out, enum platform_key key) {
    return parse_switch(strcmp(line, "0") == 0 ? "1" : strcmp(line, "1") == 0 ? "0" : line, out, key);
}

// Linux, Documentation/admin-guide/sysctl/kernel.rst: a mask of modes.
static bool parse_numa_balancing(const char *line, struct platform *out, enum platform_key key) {
    static const char *const modes[] = {"off", "on", "memory tiering", "on, memory tiering"};
    bool known = line[0] >= '0' && line[0] <= '3' && line[1] == '\0';
    if (known)
        platform_set_text(out, key, modes[line[0] - '0']);
    return known;
}

// "always [madvise] never"
static bool parse_choice(const char *line, struct platform *out, enum platform_key key) {
    const char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;
    char choice[PLATFORM_VALUE_MAX];
    if (!end || end == begin + 1)
        return false;
    (void)snprintf(choice, sizeof choice, "%.*s", (int)(end - begin - 1), begin + 1);
    platform_set_text(out, key, choice);
    return true;
}

static bool parse_count(const char *line, struct platform *out, enum platform_key key) {
    struct cpuset set;
    bool known = cpuset_parse(line, &set) == 0 && cpuset_count(&set) > 0;
    if (known)
        platform_set_number(out, key, (double)cpuset_count(&set));
    return known;
}

static const struct file FILES[] = {
    {PLATFORM_SMT, false, "devices/system/cpu/smt/active", NULL, parse_switch},
    {PLATFORM_NUMA_NODES, false, "devices/system/node/online", "the kernel is built without NUMA", parse_count},
    {PLATFORM_NUMA_BALANCING, true, "sys/kernel/numa_balancing", "the kernel is built without NUMA balancing",
     parse_numa_balancing},
    {PLATFORM_TRANSPARENT_HUGEPAGES, false, "kernel/mm/transparent_hugepage/enabled",
     "the kernel is built without transparent huge pages", parse_choice},
    {PLATFORM_FREQUENCY_DRIVER, false, "devices/system/cpu/cpu0/cpufreq/scaling_driver",
     "the kernel has no frequency driver: firmware or a hypervisor chooses", parse_word},
    {PLATFORM_BOOST, false, "devices/system/cpu/cpufreq/boost", "the frequency driver, if any, has no switch for it",
     parse_switch},
    {PLATFORM_BOOST, false, "devices/system/cpu/intel_pstate/no_turbo", NULL, parse_inverted},
    {PLATFORM_KERNEL, true, "sys/kernel/osrelease", "it has no file sys/kernel/osrelease", parse_word},
    {PLATFORM_CLOCK_SOURCE, false, "devices/system/clocksource/clocksource0/current_clocksource",
     "the kernel does not tell", parse_word},
};

// Without its file a fact stays as it is, unless the table says what that means.
static void read_file(const struct host_roots *roots, const struct file *file, struct platform *out) {
    char path[PATH_BYTES], line[LINE_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", file->proc ? roots->procfs : roots->sysfs, file->name);
    ssize_t r = host_file_read_kept(roots->kept, path, line, sizeof line);
    if (r == -ENOENT) {
        if (file->missing)
            platform_set_unknown(out, file->key, "%s", file->missing);
        return;
    }
    if (r < 0) {
        platform_set_unknown(out, file->key, "%s cannot be read: %s", path, strerror((int)-r));
        return;
    }
    line[strcspn(line, "\n")] = '\0';
    if (!file->parse(line, out, file->key))
        platform_set_unknown(out, file->key, "%s holds something else: '%.40s'", path, line);
}

// "hugepages-2048kB": the size of a page; 0 for another name.
static double page_bytes(const char *folder) {
    static const char prefix[] = "hugepages-";
    char *end;
    if (strncmp(folder, prefix, sizeof prefix - 1) != 0)
        return 0;
    unsigned long long kilobytes = strtoull(folder + sizeof prefix - 1, &end, 10);
    return strcmp(end, "kB") == 0 ? (double)kilobytes * 1024 : 0;
}

// Each size of page has a folder with the number of pages that hugetlb has reserved.
static void read_hugepages(const struct host_roots *roots, struct platform *out) {
    char path[PATH_BYTES];
    double bytes = 0;
    (void)snprintf(path, sizeof path, "%s/kernel/mm/hugepages", roots->sysfs);
    DIR *folder = opendir(path);
    if (!folder) {
        platform_set_unknown(out, PLATFORM_RESERVED_HUGEPAGES,
                             errno == ENOENT ? "the kernel is built without hugetlb" : "its folder cannot be read");
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        double size = page_bytes(entry->d_name);
        if (size == 0)
            continue;
        int length = snprintf(path, sizeof path, "%s/kernel/mm/hugepages/%s/nr_hugepages", roots->sysfs, entry->d_name);
        long long pages = length < PATH_BYTES ? host_file_number(path, -1) : -1;
        if (pages < 0)
            size = -1; // one that is not known makes the sum unknown
        bytes = size < 0 || bytes < 0 ? -1 : bytes + size * (double)pages;
    }
    (void)closedir(folder);
    if (bytes < 0)
        platform_set_unknown(out, PLATFORM_RESERVED_HUGEPAGES, "a file nr_hugepages holds no number");
    else
        platform_set_number(out, PLATFORM_RESERVED_HUGEPAGES, bytes);
}

void host_platform_read_files(const struct host_roots *roots, struct platform *out) {
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        read_file(roots, &FILES[i], out);
    read_hugepages(roots, out);
    double sockets = host_cpu_sockets(roots);
    if (sockets > 0)
        platform_set_number(out, PLATFORM_SOCKETS, sockets);
    else
        platform_set_unknown(out, PLATFORM_SOCKETS, "the kernel does not tell which CPUs share a package");
}
