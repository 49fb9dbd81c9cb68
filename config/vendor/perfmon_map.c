// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perfmon_map.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/json/json_reader.h"
#include "core/base/array.h"
#include "core/host/environment.h"

// mapfile.csv has a row for each file of a CPU: "pattern,version,/FOLDER/events/file.json,kind,core type,native model,
// role". Kinds that this version has no use for are left out, and so are files that may be missing (experimental ones).

enum { MAP_MAX = 1 << 20 };

// ---- paths ----

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool join(char out[PERF_PATH_MAX], const char *folder, const char *name) {
    int length = snprintf(out, PERF_PATH_MAX, "%s%s%s", folder, name[0] == '/' ? "" : "/", name);
    return length > 0 && length < PERF_PATH_MAX;
}

// Adds a file, unless it is there; the role is that of the first row that names it.
static int add(struct perfmon_list *list, const char *path, const char *role, bool metrics) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->files[i].path, path) == 0)
            return 0;
    if (list->n == PERFMON_FILES_MAX)
        return -E2BIG;
    struct perfmon_path *files = array_grow(list->files, list->n, sizeof *files);
    if (!files)
        return -ENOMEM;
    list->files = files;
    struct perfmon_path *file = &files[list->n++];
    *file = (struct perfmon_path){.metrics = metrics};
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    (void)snprintf(file->role, sizeof file->role, "%s", role ? role : "");
    return 0;
}

// ---- mapfile.csv ----

struct map_row {
    const char *pattern, *file, *kind, *role;
};

static bool split_row(char *text, struct map_row *row) {
    const char *fields[7] = {NULL};
    for (size_t i = 0; i < 7 && text; i++)
        fields[i] = strsep(&text, ",");
    *row = (struct map_row){.pattern = fields[0], .file = fields[2], .kind = fields[3], .role = fields[6]};
    size_t length = row->file ? strlen(row->file) : 0;
    return row->kind && length > 5 && strcmp(row->file + length - 5, ".json") == 0 && !strstr(row->file, "..");
}

bool perfmon_is_map(const char *path) {
    struct errors ignored = {.n = 0};
    struct map_row row;
    char *text;
    size_t length;
    bool is = false;
    if (!is_file(path) || json_read_file(path, MAP_MAX, &ignored, &text, &length) < 0)
        return false;
    for (char *rest = text, *line; !is && (line = strsep(&rest, "\r\n"));)
        is = split_row(line, &row);
    free(text);
    return is;
}

// True for kinds of files with events or metrics in the form that this version reads.
static bool is_read(const char *kind, bool *metrics) {
    static const char *const kinds[] = {"core", "hybridcore", "uncore", "uncore experimental", "metrics"};
    *metrics = strcmp(kind, "metrics") == 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

// The name of the CPU's folder, from "/SPR/events/...".
static void name_of(const char *file, char *out, size_t size) {
    file += *file == '/';
    (void)snprintf(out, size, "%.*s", (int)strcspn(file, "/"), file);
}

// Adds a row's file. Without the file, experimental events are lost only.
static int add_row(struct perfmon_list *list, const char *folder, const struct map_row *row, struct errors *errors) {
    char path[PERF_PATH_MAX];
    bool metrics;
    if (!is_read(row->kind, &metrics))
        return 0;
    if (!join(path, folder, row->file))
        return errors_add(errors, folder, 0, 0, "the path of %.100s is too long", row->file);
    if (!is_file(path)) {
        if (strncmp(row->kind, "uncore", 6) != 0)
            (void)errors_add(errors, path, 0, 0, "mapfile.csv names this file, which is not there");
        return 0;
    }
    if (list->n == 0)
        name_of(row->file, list->name, sizeof list->name);
    return add(list, path, row->role, metrics);
}

// Adds the files of the rows that describe the CPU, or, without one, that are in the folder `below`.
static int read_map(const char *folder, const char *cpuid, const char *below, struct errors *errors,
                    struct perfmon_list *list) {
    struct environment environment;
    char path[PERF_PATH_MAX], *text;
    size_t length;
    environment_init(&environment);
    (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "%s", cpuid ? cpuid : "");
    if (!join(path, folder, "mapfile.csv"))
        return 0;
    int r = json_read_file(path, MAP_MAX, errors, &text, &length);
    if (r < 0)
        return r;
    for (char *rest = text, *line; r == 0 && (line = strsep(&rest, "\r\n"));) {
        struct map_row row;
        char name[sizeof list->name];
        if (!split_row(line, &row))
            continue;
        name_of(row.file, name, sizeof name);
        if (below ? strcmp(name, below) == 0 : environment_is_cpu(&environment, row.pattern))
            r = add_row(list, folder, &row, errors);
    }
    free(text);
    return r;
}

// ---- folders ----

static int is_json(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int read_folder(const char *folder, struct perfmon_list *list) {
    struct dirent **entries;
    char path[PERF_PATH_MAX];
    int n = scandir(folder, &entries, is_json, alphasort), r = 0;
    for (int i = 0; i < n; i++) {
        if (r == 0 && join(path, folder, entries[i]->d_name))
            r = add(list, path, NULL, false);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return r;
}

// The folder of a CPU: as the mapfile.csv beside it says, else all files of it.
static int read_cpu(const char *given, struct errors *errors, struct perfmon_list *list) {
    char folder[PERF_PATH_MAX], path[PERF_PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s", given);
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--)
        folder[n - 1] = '\0';
    char *slash = strrchr(folder, '/');
    const char *name = slash ? slash + 1 : folder;
    (void)snprintf(list->name, sizeof list->name, "%.*s", (int)sizeof list->name - 1, name);
    (void)snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - folder) : 1, slash ? folder : ".");
    char map[PERF_PATH_MAX];
    if (join(map, path, "mapfile.csv") && perfmon_is_map(map)) {
        int r = read_map(path, NULL, name, errors, list);
        if (r < 0 || list->n > 0)
            return r;
    }
    int r = read_folder(folder, list);
    for (int i = 0; i < 2 && r == 0; i++)
        if (join(path, folder, i == 0 ? "events" : "metrics"))
            r = read_folder(path, list);
    return r;
}

int perfmon_map_find(const char *path, const char *cpuid, struct errors *errors, struct perfmon_list *out) {
    struct perfmon_list list = {.n = 0};
    char map[PERF_PATH_MAX];
    int r;
    if (strlen(path) + 300 >= PERF_PATH_MAX)
        return errors_add(errors, NULL, 0, 0, "the path of the specs is too long");
    if (cpuid && strlen(cpuid) >= sizeof((struct environment_facts *)0)->cpuid)
        return errors_add(errors, NULL, 0, 0, "the CPU '%.80s' is not written as perf writes it", cpuid);
    bool mapped = is_folder(path) && join(map, path, "mapfile.csv") && perfmon_is_map(map);
    if (mapped && !cpuid) {
        (void)errors_add(errors, path, 0, 0,
                         "holds the files of many CPUs: say which one, as perf writes it (eval: --cpuid "
                         "GenuineIntel-6-8F-4), or name its folder");
        return -ENOENT;
    }
    if (mapped)
        r = read_map(path, cpuid, NULL, errors, &list);
    else if (is_folder(path))
        r = read_cpu(path, errors, &list);
    else
        r = add(&list, path, NULL, false);
    if (r == 0 && list.n == 0 && mapped) {
        (void)errors_add(errors, path, 0, 0, "no row of mapfile.csv describes the CPU %.60s with files that are there",
                         cpuid);
        r = -ENOENT;
    } else if (r == 0 && list.n == 0) {
        r = errors_add(errors, path, 0, 0, "holds no JSON files");
    }
    if (r == -E2BIG)
        r = errors_add(errors, path, 0, 0, "holds more than %d files for one CPU", PERFMON_FILES_MAX);
    if (r < 0)
        perfmon_list_deinit(&list);
    else
        *out = list;
    return r;
}

void perfmon_list_deinit(struct perfmon_list *list) {
    free(list->files);
    *list = (struct perfmon_list){.n = 0};
}
