// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/resctrl_where.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/host/host_file.h"
#include "collectors/memory/memory_text.h"
#include "core/base/array.h"

enum { LIST_BYTES = 4096, L3 = 3, CACHES_MAX = 8 };

// A group may be removed at any moment; other errors say nothing of what there is.
static int error_of(int error) { return error == ENOENT || error == ENOTDIR || error == ENODEV ? 0 : -error; }

// Opens a folder. *r: why it cannot be read now, unless it is not there.
static DIR *open_folder(const char *path, int *r) {
    DIR *entries = opendir(path);
    if (!entries && *r == 0)
        *r = error_of(errno);
    return entries;
}

// Line by line: a host of many containers has megabytes of mounts.
int resctrl_find_mount(const struct host_roots *roots, char *mount, size_t size) {
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/self/mountinfo", roots->procfs);
    FILE *mounts = fopen(path, "re");
    int r = mounts ? 0 : error_of(errno);
    while (mounts && !found && getline(&line, &room, mounts) > 0)
        found = memory_text_resctrl(line, mount, size);
    if (mounts)
        (void)fclose(mounts);
    free(line);
    return found ? 1 : r;
}

// The CPU's last-level cache has the number of its domain; -1: the kernel does not tell.
static long long cache_of(const struct host_roots *roots, unsigned cpu) {
    char path[PATH_MAX];
    for (unsigned i = 0; i < CACHES_MAX; i++) {
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cache/index%u/level", roots->sysfs, cpu, i);
        if (host_file_number(path, 0) != L3)
            continue;
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cache/index%u/id", roots->sysfs, cpu, i);
        return host_file_number(path, -1);
    }
    return -1;
}

int resctrl_socket_of(const struct host_roots *roots, unsigned domain) {
    char path[PATH_MAX], text[LIST_BYTES];
    struct cpuset online;
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/online", roots->sysfs);
    if (host_file_read(path, text, sizeof text) <= 0 || cpuset_parse(text, &online) < 0)
        return -1;
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        if (!cpuset_has(&online, cpu) || cache_of(roots, cpu) != domain)
            continue;
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/physical_package_id", roots->sysfs,
                       cpu);
        return (int)host_file_number(path, -1);
    }
    return -1;
}

// ---- groups ----

size_t resctrl_folder(const char *mount, const char *group, char *out, size_t size) {
    int length = snprintf(out, size, "%s%s%s", mount, group[0] != '\0' ? "/" : "", group);
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

struct listing {
    struct resctrl_listed *groups;
    size_t n, max, found;
    int error; // 0: none
};

// Adds the group of a folder, if it has data. False: it has none, or there is no room.
static bool add_group(struct listing *listing, const char *mount, const char *name, bool monitoring) {
    char path[PATH_MAX];
    struct stat status;
    size_t length = resctrl_folder(mount, name, path, sizeof path - sizeof "/mon_data");
    (void)snprintf(path + length, sizeof path - length, "/mon_data");
    int r = stat(path, &status);
    bool has_data = r == 0 && S_ISDIR(status.st_mode);
    path[length] = '\0';
    if (has_data)
        r = stat(path, &status);
    if (r < 0 && listing->error == 0)
        listing->error = error_of(errno);
    if (r < 0 || !has_data || ++listing->found > listing->max)
        return false;
    struct resctrl_listed *groups = array_grow(listing->groups, listing->n, sizeof *groups);
    if (!groups) {
        listing->error = -ENOMEM;
        return false;
    }
    listing->groups = groups;
    groups[listing->n] = (struct resctrl_listed){.group.monitoring = monitoring, .inode = status.st_ino};
    (void)snprintf(groups[listing->n].group.name, sizeof groups->group.name, "%s", name);
    listing->n++;
    return true;
}

static void add_monitoring_groups(struct listing *listing, const char *mount, const char *control) {
    char path[PATH_MAX], name[HOST_MEMORY_GROUP_MAX];
    size_t length = resctrl_folder(mount, control, path, sizeof path - sizeof "/mon_groups");
    (void)snprintf(path + length, sizeof path - length, "/mon_groups");
    DIR *entries = open_folder(path, &listing->error);
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof name, "%.255s%smon_groups/%.255s", control, control[0] != '\0' ? "/" : "",
                       entry->d_name);
        (void)add_group(listing, mount, name, true);
    }
    if (entries)
        closedir(entries);
}

// The root is a control group, too; its other folders are info, mon_data and mon_groups.
static bool is_control_group(const char *name) {
    return name[0] != '.' && strcmp(name, "info") != 0 && strcmp(name, "mon_data") != 0 &&
           strcmp(name, "mon_groups") != 0;
}

ssize_t resctrl_list_groups(const char *mount, size_t max, struct resctrl_listed **out) {
    struct listing listing = {.max = max};
    DIR *entries = open_folder(mount, &listing.error);
    if (add_group(&listing, mount, "", false))
        add_monitoring_groups(&listing, mount, "");
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
        if (is_control_group(entry->d_name) && add_group(&listing, mount, entry->d_name, false))
            add_monitoring_groups(&listing, mount, entry->d_name);
    if (entries)
        closedir(entries);
    if (listing.error < 0) {
        free(listing.groups);
        return listing.error;
    }
    *out = listing.groups;
    return (ssize_t)listing.found;
}

// ---- places ----

static size_t add_place(struct resctrl_place out[RESCTRL_PLACES_MAX], size_t n, unsigned domain, int part,
                        const char *folder, const char *below) {
    if (n < RESCTRL_PLACES_MAX) {
        out[n] = (struct resctrl_place){.domain = domain, .part = part};
        (void)snprintf(out[n].folder, sizeof out->folder, "%.20s%s%.20s", folder, below ? "/" : "", below ? below : "");
    }
    return n + 1;
}

// The parts of a domain, or the domain itself if it has none.
static size_t add_places(const char *data, const char *name, unsigned domain,
                         struct resctrl_place out[RESCTRL_PLACES_MAX], size_t n, int *r) {
    char path[PATH_MAX];
    size_t before = n;
    (void)snprintf(path, sizeof path, "%.*s/%s", PATH_MAX - 300, data, name);
    DIR *entries = open_folder(path, r);
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        unsigned part;
        if (memory_text_part(entry->d_name, &part) && part <= INT_MAX)
            n = add_place(out, n, domain, (int)part, name, entry->d_name);
    }
    if (entries)
        closedir(entries);
    return n > before ? n : add_place(out, n, domain, -1, name, NULL);
}

ssize_t resctrl_list_places(const char *folder, struct resctrl_place out[RESCTRL_PLACES_MAX]) {
    char path[PATH_MAX];
    size_t n = 0;
    int r = 0;
    (void)snprintf(path, sizeof path, "%s/mon_data", folder);
    DIR *entries = open_folder(path, &r);
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        unsigned domain;
        if (memory_text_domain(entry->d_name, &domain))
            n = add_places(path, entry->d_name, domain, out, n, &r);
    }
    if (entries)
        closedir(entries);
    return r < 0 ? r : (ssize_t)n;
}
