// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_joined.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "daemon/uncore/uncore_cores.h"
#include "daemon/uncore/uncore_linux.h"

// The PMUs of a kind, and their boxes on this host.
struct found {
    const struct perf_json_joined *joined;
    struct uncore_boxes parts; // of all PMUs
    struct perf_json_beside pmus[PERF_JOINED_PMUS_MAX];
    char name[PERF_JOINED_NAME_MAX];
};

static bool is_of_cores(const char *pmu) { return strcmp(pmu, "cpu") == 0; }

static int append(struct uncore_boxes *to, const struct uncore_boxes *from) {
    for (size_t i = 0; i < from->n; i++) {
        struct uncore_box *grown = array_grow(to->boxes, to->n, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        to->boxes = grown;
        to->boxes[to->n++] = from->boxes[i];
    }
    return 0;
}

// Returns 1 if this host has all of the PMUs, 0, -ENOMEM.
static int find_parts(const struct uncore_files *files, struct found *found) {
    int r = 1;
    for (size_t i = 0; i < found->joined->n && r > 0; i++) {
        struct uncore_boxes boxes = {0};
        found->pmus[i] = (struct perf_json_beside){.pmu = found->joined->pmus[i], .per_package = 1};
        if (is_of_cores(found->joined->pmus[i]))
            continue;
        r = uncore_files_find(files, found->joined->pmus[i], &boxes);
        if (r == 0)
            r = boxes.n > 0 ? append(&found->parts, &boxes) : 0;
        r = r < 0 ? r : boxes.n > 0;
        if (r > 0)
            found->pmus[i].per_package = uncore_files_per_package(&boxes);
        uncore_boxes_deinit(&boxes);
    }
    return r;
}

static int compare_packages(const void *a, const void *b) {
    int x = ((const struct uncore_box *)a)->place.package, y = ((const struct uncore_box *)b)->place.package;
    return (x > y) - (x < y);
}

static bool has_all(const struct found *found, int package) {
    bool all = true;
    for (size_t i = 0; i < found->joined->n && all; i++) {
        char *const pmu[] = {(char *)found->joined->pmus[i]};
        bool any = is_of_cores(pmu[0]);
        for (size_t b = 0; b < found->parts.n && !any; b++)
            any = found->parts.boxes[b].place.package == package &&
                  pmu_joined_part_of(found->parts.boxes[b].pmu, pmu, 1) == 0;
        all = any;
    }
    return all;
}

// A box for each package that has all of the PMUs.
static int make_packages(const struct found *found, struct uncore_boxes *out) {
    *out = (struct uncore_boxes){.boxes = calloc(found->parts.n + 1, sizeof *out->boxes)};
    if (!out->boxes)
        return -ENOMEM;
    for (size_t i = 0; i < found->parts.n; i++) {
        struct uncore_box box = found->parts.boxes[i];
        bool known = !has_all(found, box.place.package);
        for (size_t p = 0; p < out->n && !known; p++)
            known = out->boxes[p].place.package == box.place.package;
        if (known)
            continue;
        (void)snprintf(box.pmu, sizeof box.pmu, "%.*s", UNCORE_NAME_MAX - 1, found->name);
        out->boxes[out->n++] = box;
    }
    qsort(out->boxes, out->n, sizeof *out->boxes, compare_packages);
    return 0;
}

// Whatever of the cores their own engine does not count makes metrics unmeasurable.
static int check_cores(const struct setup *setup, struct catalog_builder *builder) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    char text[UNCORE_CORES_TEXT_MAX];
    int r = 0;
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        const struct catalog_metric *metric = &catalog->metrics[m];
        for (size_t i = 0; i < metric->formula->n_variables && r == 0 && !metric->unmeasurable; i++) {
            const struct catalog_event *event = &catalog->events[metric->formula->variables[i]];
            if (event->kind == EVENT_COUNTED && is_of_cores(catalog->pmus[event->code.pmu]) &&
                uncore_cores_obstacle(setup, event->name, text))
                r = catalog_builder_set_unmeasurable(builder, (unsigned)m, text);
        }
    }
    return r;
}

static int add_kind(const struct uncore_files *files, struct found *found, struct catalog_builder *builder) {
    struct uncore_boxes packages;
    int r = make_packages(found, &packages);
    if (r < 0 || packages.n == 0) {
        uncore_boxes_deinit(&packages);
        catalog_builder_free(builder);
        return r;
    }
    struct uncore_linux *kind = uncore_linux_new(found->name, &packages, files->options);
    if (!kind) {
        catalog_builder_free(builder);
        return -ENOMEM;
    }
    kind->parts = found->parts;
    found->parts = (struct uncore_boxes){0};
    return uncore_files_add(files, kind, builder);
}

static int add(const struct uncore_files *files, const struct perf_json_joined *joined) {
    struct found found = {.joined = joined};
    struct errors told = {0};
    struct catalog_builder *builder = NULL;
    int r = find_parts(files, &found);
    perf_json_joined_name(joined, found.name);
    if (r > 0) {
        const struct perf_json_boxes boxes = {.pmu = joined->pmus[0],
                                              .identifier = "",
                                              .per_package = found.pmus[0].per_package,
                                              .beside = found.pmus + 1,
                                              .n_beside = joined->n - 1};
        struct perf_json_request request = files->request;
        request.boxes = &boxes;
        r = perf_json_read(&request, &told, &builder);
        if (r == 0)
            r = check_cores(files->setup, builder);
        if (r == 0)
            r = add_kind(files, &found, builder);
        else
            catalog_builder_free(builder);
    }
    uncore_boxes_deinit(&found.parts);
    return r == -ENOMEM ? r : 0;
}

int uncore_joined_add(const struct uncore_files *files) {
    struct perf_json_joins *joins = calloc(1, sizeof *joins);
    struct errors told = {0};
    int r = joins ? perf_json_find_joined(&files->request, &told, joins) : -ENOMEM;
    for (size_t i = 0; r == 0 && i < joins->n; i++)
        r = add(files, &joins->joined[i]);
    free(joins);
    return r == -ENOMEM ? r : 0;
}
