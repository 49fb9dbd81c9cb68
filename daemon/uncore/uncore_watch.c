// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_watch.h"

#include <dirent.h>
#include <stdio.h>

enum { PATH_BYTES = 512 };

// FNV-1a of a name and its number: a PMU that comes again under its name has another one.
static uint64_t hash_of(const struct dirent *entry) {
    uint64_t hash = UINT64_C(14695981039346656037) ^ entry->d_ino;
    for (const char *c = entry->d_name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}

// Of all names, in whatever order the folder has them. Never 0.
static uint64_t look(const char *sysfs) {
    char path[PATH_BYTES];
    uint64_t sum = 1;
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices", sysfs);
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        if (entry->d_name[0] != '.')
            sum += hash_of(entry);
    if (folder)
        closedir(folder);
    return sum != 0 ? sum : 1;
}

bool uncore_watch_step(struct uncore_watch *watch, const struct options *options, uint64_t now_ns) {
    if (options->pmu == PMU_SIM || options->pmu == PMU_REPLAY || now_ns < watch->due_ns)
        return false;
    uint64_t before = watch->seen;
    watch->seen = look(options->paths.sysfs);
    if (watch->seen != before)
        watch->busy_until_ns = now_ns + UNCORE_WATCH_NS;
    watch->due_ns = now_ns + (now_ns < watch->busy_until_ns ? UNCORE_WATCH_SOON_NS : UNCORE_WATCH_NS);
    return before != 0 && watch->seen != before;
}
