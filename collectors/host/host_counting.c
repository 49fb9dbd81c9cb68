// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_counting.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/host/host_file.h"

static const char EVENT_FILE[] = "anon_inode:[perf_event]";

// The number of events that a process has open, or a negative errno.
static int count_events(const char *processes, unsigned long process) {
    char path[PATH_MAX], target[sizeof EVENT_FILE];
    int n = 0;
    (void)snprintf(path, sizeof path, "%s/%lu/fd", processes, process);
    DIR *files = opendir(path);
    if (!files)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(files));) {
        ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target);
        n += length == (ssize_t)(sizeof EVENT_FILE - 1) && memcmp(target, EVENT_FILE, sizeof EVENT_FILE - 1) == 0;
    }
    (void)closedir(files);
    return n;
}

static void read_program(const char *processes, unsigned long process, char out[HOST_PROGRAM_MAX]) {
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%lu/comm", processes, process);
    ssize_t length = host_file_read(path, out, HOST_PROGRAM_MAX);
    if (length <= 0)
        (void)snprintf(out, HOST_PROGRAM_MAX, "unknown");
    for (char *c = out; *c != '\0'; c++)
        if (*c == '\n')
            *c = '\0';
        else if (!isprint((unsigned char)*c))
            *c = '?';
}

// Keeps the `max` with the most events, in that order. Returns how many are kept.
static size_t keep(struct host_counting *out, size_t max, size_t n, const struct host_counting *found) {
    size_t place = n;
    while (place > 0 && out[place - 1].n_events < found->n_events)
        place--;
    if (place == max)
        return n;
    size_t moved = (n < max ? n : max - 1) - place;
    memmove(out + place + 1, out + place, moved * sizeof *out);
    out[place] = *found;
    return n < max ? n + 1 : n;
}

int host_counting_find(const struct host_roots *roots, struct host_counting *out, size_t max, size_t *n_hidden) {
    DIR *processes = opendir(roots->procfs);
    size_t n = 0;
    *n_hidden = 0;
    if (!processes)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(processes));) {
        char *end;
        unsigned long process = strtoul(entry->d_name, &end, 10);
        if (!isdigit((unsigned char)entry->d_name[0]) || *end != '\0' || process == (unsigned long)getpid())
            continue;
        int events = count_events(roots->procfs, process);
        *n_hidden += events == -EACCES || events == -EPERM;
        if (events <= 0)
            continue;
        struct host_counting found = {.process = (unsigned)process, .n_events = (size_t)events};
        read_program(roots->procfs, process, found.program);
        n = keep(out, max, n, &found);
    }
    (void)closedir(processes);
    return (int)n;
}
