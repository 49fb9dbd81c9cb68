// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_watch.h"

#include <dirent.h>
#include <stdio.h>

#include "collectors/host/host_file.h"

enum { PATH_BYTES = 512, TEXT_BYTES = 4096 };

// FNV-1a.
static uint64_t hash_of(const char *text, uint64_t number) {
    uint64_t hash = UINT64_C(14695981039346656037) ^ number;
    for (const char *c = text; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}

// Of a file's text; 0: it cannot be read.
static uint64_t hash_file(const char *path, uint64_t number) {
    char text[TEXT_BYTES];
    return host_file_read(path, text, sizeof text) >= 0 ? hash_of(text, number) : 0;
}

// Of all names with their numbers, as a PMU that comes again under its name has another one, or of the masks. The
// folder has them in whatever order. Never 0.
static uint64_t look(const char *sysfs, bool masks) {
    char path[PATH_BYTES];
    uint64_t sum = 1;
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices", sysfs);
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        uint64_t name = hash_of(entry->d_name, entry->d_ino);
        (void)snprintf(path, sizeof path, "%s/bus/event_source/devices/%.128s/cpumask", sysfs, entry->d_name);
        sum += masks ? hash_file(path, name) : name;
    }
    if (folder)
        closedir(folder);
    return sum != 0 ? sum : 1;
}

bool uncore_watch_step(struct uncore_watch *watch, const struct options *options, uint64_t now_ns) {
    if (options->pmu == PMU_SIM || options->pmu == PMU_REPLAY || now_ns < watch->due_ns)
        return false;
    uint64_t before = watch->seen, online = watch->online, masks = watch->masks;
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/online", options->paths.sysfs);
    watch->seen = look(options->paths.sysfs, false);
    watch->online = hash_file(path, 0);
    bool stirs = watch->seen != before || watch->online != online;
    if (stirs || watch->stirred)
        watch->masks = look(options->paths.sysfs, true);
    watch->stirred = stirs;
    bool changed = watch->seen != before || watch->masks != masks;
    if (stirs || changed)
        watch->busy_until_ns = now_ns + UNCORE_WATCH_NS;
    watch->due_ns = now_ns + (now_ns < watch->busy_until_ns ? UNCORE_WATCH_SOON_NS : UNCORE_WATCH_NS);
    return before != 0 && changed;
}
