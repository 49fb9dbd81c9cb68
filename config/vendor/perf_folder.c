// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/json/json_reader.h"
#include "config/vendor/perf_folder.h"
#include "core/host/environment.h"

// Finds the folder for a path and a CPU through mapfile.csv: "pattern,version,folder,type". The first row whose pattern
// describes the CPU wins (core/host/environment.h has perf's rules).

enum { MAP_MAX = 1 << 20, LEVELS_MAX = 3 };

static bool join(char *out, size_t size, const char *folder, const char *name) {
    int length = snprintf(out, size, "%s/%s", folder, name);
    return length > 0 && (size_t)length < size;
}

static bool has_map(const char *folder) {
    char path[PERF_PATH_MAX];
    struct stat status;
    return join(path, sizeof path, folder, "mapfile.csv") && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

// The folder with mapfile.csv that contains `path`, "" if there is none nearby.
static void find_architecture(const char *path, char *out) {
    (void)snprintf(out, PERF_PATH_MAX, "%s", path);
    for (int level = 0; level < LEVELS_MAX; level++) {
        size_t length = strlen(out);
        while (length > 1 && out[length - 1] == '/')
            out[--length] = '\0';
        char *slash = strrchr(out, '/');
        if (slash)
            *(slash == out ? slash + 1 : slash) = '\0';
        else
            (void)snprintf(out, PERF_PATH_MAX, "%s", level == 0 ? "." : "..");
        if (has_map(out))
            return;
        if (!slash && level > 0)
            break;
    }
    out[0] = '\0';
}

// Splits "pattern,version,folder,type"; false for a comment or an invalid row.
static bool split_row(char *row, char **pattern, char **folder) {
    *pattern = strsep(&row, ",");
    (void)strsep(&row, ",");
    *folder = strsep(&row, ",");
    return (*pattern)[0] != '#' && *folder && (*folder)[0] != '\0' && !strstr(*folder, "..");
}

// 1: found, 0: no row describes the CPU.
static int look_up(const char *architecture, const char *cpuid, struct errors *errors, struct perf_folder *out) {
    struct environment environment;
    char path[PERF_PATH_MAX], *text, *pattern, *folder;
    size_t length;
    environment_init(&environment);
    (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "%s", cpuid);
    if (!join(path, sizeof path, architecture, "mapfile.csv"))
        return 0;
    int r = json_read_file(path, MAP_MAX, errors, &text, &length);
    if (r < 0)
        return r;
    for (char *rest = text, *row; r == 0 && (row = strsep(&rest, "\r\n"));) {
        if (!split_row(row, &pattern, &folder) || !environment_is_cpu(&environment, pattern))
            continue;
        r = join(out->path, sizeof out->path, architecture, folder)
                ? 1
                : errors_add(errors, path, 0, 0, "the path of %.100s is too long", folder);
        (void)snprintf(out->architecture, sizeof out->architecture, "%s", architecture);
    }
    free(text);
    return r;
}

// Looks through the folders of `root` that have a mapfile.csv. Returns 1, 0, or a negative errno; *any tells whether
// there was one.
static int search(const char *root, const char *cpuid, struct errors *errors, struct perf_folder *out, bool *any) {
    struct dirent **entries;
    char path[PERF_PATH_MAX];
    int n = scandir(root, &entries, NULL, alphasort), r = 0;
    for (int i = 0; i < n; i++) {
        bool good = entries[i]->d_name[0] != '.' && join(path, sizeof path, root, entries[i]->d_name) && has_map(path);
        free(entries[i]);
        *any = *any || good;
        if (good && cpuid && r == 0)
            r = look_up(path, cpuid, errors, out);
    }
    if (n >= 0)
        free(entries);
    return r;
}

int perf_folder_find(const char *path, const char *cpuid, struct errors *errors, struct perf_folder *out) {
    struct stat status;
    char below[PERF_PATH_MAX];
    if (strlen(path) + 1 >= PERF_PATH_MAX || stat(path, &status) < 0)
        return errors_add_failure(errors, path, "cannot be read", errno);
    *out = (struct perf_folder){.is_file = !S_ISDIR(status.st_mode)};
    (void)snprintf(out->path, sizeof out->path, "%s", path);
    for (size_t n = strlen(path); n > 1 && out->path[n - 1] == '/'; n--)
        out->path[n - 1] = '\0';
    if (cpuid && strlen(cpuid) >= sizeof((struct environment_facts *)0)->cpuid)
        return errors_add(errors, NULL, 0, 0, "the CPU '%.80s' is not written as perf writes it", cpuid);
    bool mapped = !out->is_file && has_map(path);
    int found = mapped && cpuid ? look_up(path, cpuid, errors, out) : 0;
    if (!out->is_file && !mapped)
        found = search(path, cpuid, errors, out, &mapped);
    if (!out->is_file && !mapped && join(below, sizeof below, path, "arch"))
        found = search(below, cpuid, errors, out, &mapped);
    if (found < 0)
        return found;
    if (mapped && !cpuid)
        (void)errors_add(errors, path, 0, 0,
                         "holds the files of many CPUs: say which one, as perf writes it (eval: --cpuid "
                         "GenuineIntel-6-8F-4, or a MIDR_EL1 such as 0x410fd4f0), or name its folder");
    else if (mapped && found == 0)
        (void)errors_add(errors, path, 0, 0,
                         "no row of mapfile.csv describes the CPU %.60s: name the folder of a CPU that is like it",
                         cpuid);
    if (mapped && found == 0)
        return -ENOENT;
    if (found == 0)
        find_architecture(path, out->architecture);
    if (stat(out->path, &status) == 0)
        return 0;
    int r = errno == ENOENT ? -ENOENT : -EINVAL; // a tree may lack folders that its map names
    (void)errors_add_failure(errors, out->path, "mapfile.csv names this folder, which cannot be read", errno);
    return r;
}
