// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/pmu_named.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_file.h"
#include "collectors/host/host_pmu.h"

enum { PATH_BYTES = 512, TEXT_BYTES = 256, ENTRIES_MAX = 1024 };
enum { PERF_TYPE_RAW_CORE = 4 }; // of linux/perf_event.h: the cores'

// Reads a file of one line without the line's end. Its length, or a negative errno.
static ssize_t read_file(const struct host_roots *roots, const char *pmu, const char *folder, const char *name,
                         const char *suffix, char *text, size_t size) {
    char path[PATH_BYTES];
    int made = snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/%s%s%s%s", roots->sysfs, pmu, folder,
                        name ? "/" : "", name ? name : "", suffix);
    ssize_t length = made > 0 && (size_t)made < sizeof path ? host_file_read(path, text, size) : -ENOENT;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return length;
}

// ---- units ----

int pmu_named_unit(const struct host_roots *roots, const char *pmu, const char *event, struct pmu_named_unit *out) {
    static const struct {
        const char *text;
        struct pmu_named_unit unit;
    } units[] = {
        {"Bytes", {1, "bytes"}},        {"B", {1, "bytes"}},
        {"KiB", {1024, "bytes"}},       {"MiB", {1048576, "bytes"}},
        {"GiB", {1073741824, "bytes"}}, {"KB", {1e3, "bytes"}},
        {"MB", {1e6, "bytes"}},         {"GB", {1e9, "bytes"}},
        {"Joules", {1, "joules"}},      {"J", {1, "joules"}},
        {"mJ", {1e-3, "joules"}},       {"uJ", {1e-6, "joules"}},
        {"s", {1, "seconds"}},          {"ms", {1e-3, "seconds"}},
        {"us", {1e-6, "seconds"}},      {"ns", {1e-9, "seconds"}},
    };
    char unit[TEXT_BYTES], scale[TEXT_BYTES] = "1", *end;
    if (read_file(roots, pmu, "events", event, ".unit", unit, sizeof unit) <= 0)
        return -ENOENT;
    if (read_file(roots, pmu, "events", event, ".scale", scale, sizeof scale) <= 0)
        (void)snprintf(scale, sizeof scale, "1"); // as perf takes it
    double value = strtod(scale, &end);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (end != scale && *end == '\0' && value > 0 && strcmp(unit, units[u].text) == 0) {
            *out = (struct pmu_named_unit){value * units[u].unit.factor, units[u].unit.name};
            return 0;
        }
    return -EINVAL;
}

// ---- events ----

int pmu_named_event(const struct host_roots *roots, const char *pmu, const char *event, struct pmu_named_event *out) {
    struct pmu_named_event found = {.unusable = NULL};
    char text[TEXT_BYTES];
    int r = host_pmu_alias(roots, pmu, event, found.terms, sizeof found.terms);
    if (r == -ENOENT)
        return r;
    int unit = pmu_named_unit(roots, pmu, event, &found.unit);
    if (r < 0 || strchr(found.terms, '?'))
        found.unusable = "its terms need values that only a person can choose";
    else if (read_file(roots, pmu, "events", event, ".snapshot", text, sizeof text) > 0 && strcmp(text, "0") != 0)
        found.unusable = "it is a present value, not a count that grows";
    else if (unit == -ENOENT)
        found.unusable = "the kernel states no unit for it, so nobody knows what a count of it is";
    else if (unit < 0)
        found.unusable = "topdownd knows no base unit for its unit: it converts bytes, joules and seconds";
    *out = found;
    return 0;
}

const char *pmu_named_unusable(const struct host_roots *roots, const char *pmu) {
    char text[TEXT_BYTES];
    uint32_t type;
    if (host_linux_pmu_type(roots, pmu, &type) < 0)
        return "has no type, so nobody can open its events";
    if (type == PERF_TYPE_RAW_CORE || strcmp(pmu, "cpu") == 0 ||
        read_file(roots, pmu, "cpus", NULL, "", text, sizeof text) >= 0)
        return "is the PMU of the cores: metric groups measure it (topdownd list groups)";
    if (!host_pmu_has_cpumask(roots, pmu))
        return "has no file cpumask, so it counts for CPUs or tasks and not for a socket";
    return NULL;
}

// ---- names ----

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), of_end = strlen(end);
    return length > of_end && strcmp(text + length - of_end, end) == 0;
}

static bool is_listed(const char *name) {
    return name[0] != '.' && strlen(name) < PMU_NAMED_MAX && !ends_with(name, ".scale") && !ends_with(name, ".unit") &&
           !ends_with(name, ".snapshot") && !ends_with(name, ".per-pkg");
}

int pmu_named_list(const struct host_roots *roots, const char *pmu, const char *folder, char (**out)[PMU_NAMED_MAX]) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/%s", roots->sysfs, pmu, folder);
    DIR *opened = opendir(path);
    if (!opened)
        return -ENOENT;
    char(*names)[PMU_NAMED_MAX] = calloc(ENTRIES_MAX, sizeof *names);
    int n = 0;
    for (const struct dirent *entry = names ? readdir(opened) : NULL; entry && n < ENTRIES_MAX; entry = readdir(opened))
        if (is_listed(entry->d_name))
            memcpy(names[n++], entry->d_name, strlen(entry->d_name) + 1);
    closedir(opened);
    if (!names)
        return -ENOMEM;
    qsort(names, (size_t)n, sizeof *names, compare_names);
    *out = names;
    return n;
}

int pmu_named_term(const struct host_roots *roots, const char *pmu, const char *term, char *out, size_t size) {
    ssize_t length = read_file(roots, pmu, "format", term, "", out, size);
    return length <= 0 ? -ENOENT : (size_t)length + 1 >= size ? -EINVAL : 0;
}
