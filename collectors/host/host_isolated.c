// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_isolated.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "collectors/host/host_file.h"

enum { LIST_BYTES = 16384, PATH_BYTES = 512, FILE_BYTES = 64, DEPTH_MAX = 8 };

static void add_all(struct cpuset *set, const struct cpuset *others) {
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        set->words[w] |= others->words[w];
}

// Adds the CPUs of a list; false if there is no such file. Text that is no list, such as "(null)", names none. Cgroups
// come and go, so their files do not stay open: `kept` is NULL.
static bool add_list(struct host_files *kept, const char *folder, const char *file, struct cpuset *out) {
    char path[PATH_BYTES + FILE_BYTES], text[LIST_BYTES];
    struct cpuset set;
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    if (host_file_read_mounted(kept, path, text, sizeof text) < 0)
        return false;
    if (cpuset_parse(text, &set) == 0)
        add_all(out, &set);
    return true;
}

enum partition { MEMBER, ROOT, ISOLATED };

static enum partition partition_of(const char *folder) {
    char path[PATH_BYTES + FILE_BYTES], text[64];
    (void)snprintf(path, sizeof path, "%s/cpuset.cpus.partition", folder);
    if (host_file_read(path, text, sizeof text) < 0)
        return MEMBER;
    return strcmp(text, "isolated\n") == 0 ? ISOLATED : strcmp(text, "root\n") == 0 ? ROOT : MEMBER;
}

// The next folder below `folder`, as a path; false after the last one.
static bool next_child(DIR *children, const char *folder, char child[PATH_BYTES]) {
    for (const struct dirent *entry = readdir(children); entry; entry = readdir(children)) {
        int length = snprintf(child, PATH_BYTES, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && length > 0 && length < PATH_BYTES &&
            (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN))
            return true;
    }
    return false;
}

// Before Linux 6.7 every cgroup above a partition is one too, so the search stops at all others.
static void add_partitions(const char *folder, unsigned depth, struct cpuset *out) {
    DIR *children = depth < DEPTH_MAX ? opendir(folder) : NULL;
    char child[PATH_BYTES];
    while (children && next_child(children, folder, child)) {
        enum partition partition = partition_of(child);
        if (partition == ISOLATED)
            (void)add_list(NULL, child, "cpuset.cpus.effective", out);
        if (partition != MEMBER)
            add_partitions(child, depth + 1, out);
    }
    if (children)
        closedir(children);
}

// Only cgroups of version 2 have partitions, and their root always has this file: a search elsewhere would be for
// nothing, every few seconds.
static bool has_partitions(struct host_files *kept, const char *root) {
    char path[PATH_BYTES + FILE_BYTES], text[2];
    (void)snprintf(path, sizeof path, "%s/cgroup.controllers", root);
    return host_file_read_mounted(kept, path, text, sizeof text) >= 0;
}

// ---- cgroup v1 ----

static bool is_balanced(struct host_files *kept, const char *folder) {
    char path[PATH_BYTES + FILE_BYTES], text[8];
    (void)snprintf(path, sizeof path, "%s/cpuset.sched_load_balance", folder);
    return host_file_read_mounted(kept, path, text, sizeof text) < 0 || strcmp(text, "0\n") != 0;
}

// Adds the CPUs of all sets that are balanced. Below such a set are only CPUs that it has. What lies too deep to look
// at counts as balanced, so that a CPU is rather measured than lost.
static void add_balanced(const char *folder, unsigned depth, struct cpuset *out) {
    DIR *children = opendir(folder);
    char child[PATH_BYTES];
    while (children && next_child(children, folder, child)) {
        if (is_balanced(NULL, child) || depth == DEPTH_MAX)
            (void)add_list(NULL, child, "cpuset.cpus", out);
        else
            add_balanced(child, depth + 1, out);
    }
    if (children)
        closedir(children);
}

// Adds the CPUs that no balanced set has.
static void add_unbalanced(struct host_files *kept, const char *root, struct cpuset *out) {
    struct cpuset all = {0}, balanced = {0};
    if (is_balanced(kept, root))
        return;
    (void)add_list(NULL, root, "cpuset.cpus", &all);
    add_balanced(root, 0, &balanced);
    if (cpuset_is_empty(&balanced))
        return;
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        out->words[w] |= all.words[w] & ~balanced.words[w];
}

void host_isolated_cpus(const struct host_roots *roots, struct cpuset *out) {
    char folder[PATH_BYTES];
    memset(out, 0, sizeof *out);
    (void)snprintf(folder, sizeof folder, "%s/devices/system/cpu", roots->sysfs);
    (void)add_list(roots->kept, folder, "isolated", out);
    (void)add_list(roots->kept, folder, "nohz_full", out);
    (void)snprintf(folder, sizeof folder, "%s/fs/cgroup", roots->sysfs);
    if (add_list(roots->kept, folder, "cpuset.cpus.isolated", out))
        return;
    if (has_partitions(roots->kept, folder)) {
        add_partitions(folder, 0, out);
        return;
    }
    (void)snprintf(folder, sizeof folder, "%s/fs/cgroup/cpuset", roots->sysfs);
    add_unbalanced(roots->kept, folder, out);
}
