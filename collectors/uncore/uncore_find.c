// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/uncore_find.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/host/host_cores.h"
#include "collectors/host/host_file.h"
#include "collectors/uncore/pmu_mask.h"
#include "collectors/uncore/pmu_named.h"
#include "core/base/array.h"

enum { PATH_BYTES = 512, TEXT_BYTES = 256 };

// ---- files ----

// Reads a file of one line of a PMU, without the line's end.
static ssize_t read_file(const struct host_roots *roots, const char *pmu, const char *file, char *text, size_t size) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices/%s/%s", roots->sysfs, pmu, file);
    ssize_t length = host_file_read(path, text, size);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return length;
}

static bool has_identifier(const struct host_roots *roots, const char *pmu, const char *pattern) {
    char text[TEXT_BYTES];
    return !pattern || (read_file(roots, pmu, "identifier", text, sizeof text) > 0 && fnmatch(pattern, text, 0) == 0);
}

static bool has_file(const struct host_roots *roots, const char *pmu, const char *file) {
    char text[TEXT_BYTES];
    return !file || read_file(roots, pmu, file, text, sizeof text) >= 0;
}

static bool has_path(const struct host_roots *roots, const char *pattern) {
    char path[PATH_BYTES];
    glob_t found;
    if (!pattern)
        return true;
    (void)snprintf(path, sizeof path, "%s/%s", roots->sysfs, pattern);
    bool has = glob(path, GLOB_NOSORT, NULL, &found) == 0;
    globfree(&found);
    return has;
}

// ---- boxes ----

static int add_unusable(struct uncore_found *found, const char *pmu, const char *reason) {
    struct uncore_unusable *grown = array_grow(found->unusable, found->n_unusable, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    found->unusable = grown;
    grown[found->n_unusable] = (struct uncore_unusable){.reason = reason};
    (void)snprintf(grown[found->n_unusable].pmu, UNCORE_NAME_MAX, "%.*s", UNCORE_NAME_MAX - 1, pmu);
    found->n_unusable++;
    return 0;
}

// Why a PMU has no box, by what reading its mask returned; NULL: it has some.
static const char *mask_reason(int r, const struct cpuset *cpus) {
    if (r == -EINVAL)
        return "its file cpumask is no list of CPUs";
    if (r == -ENODATA)
        return "it has no file cpumask, and which CPUs are online is not known";
    if (r < 0)
        return "its file cpumask cannot be read";
    return cpuset_is_empty(cpus) ? "its file cpumask is empty: all CPUs that could read it are offline" : NULL;
}

// The last mask that was looked at: most PMUs of a kind have the same.
struct look {
    struct cpuset online, cpus;
    struct uncore_mask mask;
    enum uncore_part part;
};

static int look_at(const struct host_roots *roots, const struct cpuset *cpus, struct look *look) {
    if (look->mask.n > 0 && memcmp(&look->cpus, cpus, sizeof *cpus) == 0)
        return 0;
    uncore_mask_deinit(&look->mask);
    int r = pmu_mask_look(roots, cpus, &look->mask);
    look->cpus = *cpus;
    look->part = uncore_mask_part(&look->mask, &look->online);
    return r;
}

static int add_box(const char *pmu, uint32_t type, const struct look *look, size_t i, struct uncore_boxes *boxes) {
    struct uncore_box *grown = array_grow(boxes->boxes, boxes->n, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    boxes->boxes = grown;
    struct uncore_box *box = &grown[boxes->n++];
    *box =
        (struct uncore_box){.type = type, .cpu = look->mask.cpus[i], .place = look->mask.places[i], .part = look->part};
    memcpy(box->pmu, pmu, strlen(pmu) + 1);
    return 0;
}

// Adds a box for each CPU of the PMU's mask. -ENOMEM.
static int add_boxes(const struct host_roots *roots, const char *pmu, struct look *look, struct uncore_found *found) {
    struct cpuset cpus = {{0}};
    uint32_t type = 0;
    const char *reason = strlen(pmu) >= UNCORE_NAME_MAX               ? "its name is too long"
                         : host_linux_pmu_type(roots, pmu, &type) < 0 ? "its file type holds no number"
                                                                      : NULL;
    if (!reason)
        reason = mask_reason(pmu_mask_read(roots, pmu, -1, &cpus), &cpus);
    if (reason)
        return add_unusable(found, pmu, reason);
    int r = look_at(roots, &cpus, look);
    for (size_t i = 0; r == 0 && i < look->mask.n; i++)
        r = add_box(pmu, type, look, i, &found->boxes);
    return r;
}

// Socket by socket, in the natural order of names: "imc_2" before "imc_10".
static int compare_boxes(const void *a, const void *b) {
    const struct uncore_box *x = a, *y = b;
    if (x->place.package != y->place.package)
        return x->place.package < y->place.package ? -1 : 1;
    int order = strverscmp(x->pmu, y->pmu);
    return order != 0 ? order : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static int compare_unusable(const void *a, const void *b) {
    return strverscmp(((const struct uncore_unusable *)a)->pmu, ((const struct uncore_unusable *)b)->pmu);
}

static bool is_of_kind(const struct host_roots *roots, const struct uncore_kind *kind, const char *pmu) {
    return pmu[0] != '.' && fnmatch(kind->pattern, pmu, 0) == 0 && has_identifier(roots, pmu, kind->identifier) &&
           has_file(roots, pmu, kind->file);
}

static int find_boxes(const struct host_roots *roots, const struct uncore_kind *kind, struct uncore_found *out) {
    char path[PATH_BYTES];
    struct look look = {0};
    int r = 0;
    if (!has_path(roots, kind->host))
        return 0;
    (void)pmu_mask_online(roots, &look.online); // not known: what masks are made of follows from them alone
    (void)snprintf(path, sizeof path, "%s/bus/event_source/devices", roots->sysfs);
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry && r == 0; entry = readdir(folder))
        if (is_of_kind(roots, kind, entry->d_name))
            r = add_boxes(roots, entry->d_name, &look, out);
    if (folder)
        closedir(folder);
    uncore_mask_deinit(&look.mask);
    if (out->boxes.n > 0)
        qsort(out->boxes.boxes, out->boxes.n, sizeof *out->boxes.boxes, compare_boxes);
    if (out->n_unusable > 0)
        qsort(out->unusable, out->n_unusable, sizeof *out->unusable, compare_unusable);
    return r;
}

// The entry of the kind's name, which is added if it is new; NULL if out of memory. Without a host to decide, each spec
// has an entry of its own.
static struct uncore_found *entry_of(struct uncore_host *host, const struct uncore_kind *kind, bool decided) {
    for (size_t i = 0; i < host->n; i++)
        if (strcmp(host->found[i].kind->name, kind->name) == 0 &&
            (decided || strcmp(host->found[i].kind->spec, kind->spec) == 0))
            return &host->found[i];
    struct uncore_found *grown = array_grow(host->found, host->n, sizeof *grown);
    if (!grown)
        return NULL;
    host->found = grown;
    grown[host->n] = (struct uncore_found){.kind = kind};
    return &grown[host->n++];
}

// True if a host with CPUs of these specs may have the kind.
static bool is_of(const struct uncore_kind *kind, const char *const *specs, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (fnmatch(kind->cpus, specs[i], 0) == 0)
            return true;
    return false;
}

int uncore_find(const struct host_roots *roots, const struct uncore_kinds *kinds, const char *const *specs, size_t n,
                struct uncore_host *out) {
    struct uncore_host host = {0};
    int r = 0;
    for (size_t k = 0; k < kinds->n && r == 0; k++) {
        const struct uncore_kind *kind = &kinds->kinds[k];
        if (!is_of(kind, specs, n))
            continue;
        struct uncore_found *found = entry_of(&host, kind, roots != NULL);
        r = found ? 0 : -ENOMEM;
        if (r < 0 || !roots || found->boxes.n > 0)
            continue;
        r = find_boxes(roots, kind, found);
        if (found->boxes.n > 0)
            found->kind = kind;
    }
    if (r < 0)
        uncore_host_deinit(&host);
    else
        *out = host;
    return r;
}

int uncore_find_here(const struct host_roots *roots, const struct cpu_map *cpus, const struct uncore_kinds *kinds,
                     struct uncore_host *out) {
    const char *specs[HOST_CORES_MAX];
    struct host_kinds cores;
    size_t n = 0;
    host_cores_find(roots, cpus, false, &cores);
    for (size_t i = 0; i < cores.n; i++)
        if (cores.kinds[i].row)
            specs[n++] = cores.kinds[i].row->spec;
    return uncore_find(roots, kinds, specs, n, out);
}

void uncore_host_deinit(struct uncore_host *host) {
    for (size_t i = 0; i < host->n; i++) {
        uncore_boxes_deinit(&host->found[i].boxes);
        free(host->found[i].unusable);
    }
    free(host->found);
    *host = (struct uncore_host){0};
}

int uncore_find_named(const struct host_roots *roots, const char *pattern, struct uncore_boxes *out) {
    const struct uncore_kind kind = {.pattern = pattern};
    struct uncore_found found = {.kind = &kind};
    int r = find_boxes(roots, &kind, &found);
    if (r < 0)
        uncore_boxes_deinit(&found.boxes);
    else
        *out = found.boxes;
    free(found.unusable);
    return r;
}

int uncore_find_bytes(const struct host_roots *roots, const char *pmu, const char *event, double *out) {
    struct pmu_named_unit unit;
    int r = pmu_named_unit(roots, pmu, event, &unit);
    if (r == 0 && strcmp(unit.name, "bytes") != 0)
        r = -EINVAL;
    if (r == 0)
        *out = unit.factor;
    return r;
}

void uncore_find_identifier(const struct host_roots *roots, const char *pmu, char *out, size_t size) {
    if (read_file(roots, pmu, "identifier", out, size) <= 0)
        out[0] = '\0';
}
