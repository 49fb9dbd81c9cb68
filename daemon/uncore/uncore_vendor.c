// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_vendor.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collectors/host/host_cpu.h"
#include "collectors/uncore/pmu_named.h"
#include "collectors/uncore/uncore_find.h"
#include "config/spec/spec_json.h"
#include "config/vendor/perf_json.h"
#include "daemon/uncore/uncore_files.h"
#include "daemon/uncore/uncore_joined.h"

// The files of this host's CPU have its own PMUs. Those of a system, such as a mesh, are in folders named `sys`, which
// are for every host whose PMU has the identifier that an entry names.

// Takes over the boxes and the builder.
static int add(const struct uncore_files *vendor, const char *pmu, struct uncore_boxes *found,
               struct catalog_builder *builder) {
    struct uncore_linux *kind = uncore_linux_new(pmu, found, vendor->options);
    if (!kind) {
        catalog_builder_free(builder);
        return -ENOMEM;
    }
    for (char *c = kind->name; *c != '\0'; c++)
        *c = *c == ',' ? '_' : *c;
    return uncore_files_add(vendor, kind, builder);
}

static int add_pmu(const struct uncore_files *vendor, const char *pmu) {
    struct uncore_boxes found;
    struct catalog_builder *builder = NULL;
    struct errors told = {0};
    char identifier[PERF_PMU_MAX] = "";
    int r = uncore_files_find(vendor, pmu, &found);
    if (r == 0 && found.n > 0) {
        uncore_find_identifier(&vendor->roots, found.boxes[0].pmu, identifier, sizeof identifier);
        const struct perf_json_boxes boxes = {
            .pmu = pmu, .identifier = identifier, .per_package = uncore_files_per_package(&found)};
        struct perf_json_request request = vendor->request;
        request.boxes = &boxes;
        r = perf_json_read(&request, &told, &builder);
    }
    if (r == 0 && builder)
        return add(vendor, pmu, &found, builder);
    uncore_boxes_deinit(&found);
    return r == -ENOMEM ? r : 0;
}

static int add_folder(struct uncore_files *vendor, const char *path) {
    struct perf_json_pmus *pmus = calloc(1, sizeof *pmus);
    struct errors told = {0};
    if (!pmus)
        return -ENOMEM;
    vendor->request.path = path;
    int r = perf_json_find_boxes(&vendor->request, &told, pmus);
    for (size_t i = 0; i < pmus->n && r >= 0; i++)
        r = add_pmu(vendor, pmus->names[i]);
    free(pmus);
    if (r >= 0)
        r = uncore_joined_add(vendor);
    return r == -ENOMEM ? r : 0;
}

static int add_systems(struct uncore_files *vendor, const char *path) {
    static const char *const below[] = {"", "/arch", "/arch/arm64", "/arm64"};
    char pattern[DATA_PATH_MAX];
    int r = 0;
    for (size_t i = 0; i < 2 * sizeof below / sizeof *below && r == 0; i++) {
        glob_t found;
        (void)snprintf(pattern, sizeof pattern, "%s%s/%s/sys", path, below[i / 2], i % 2 == 0 ? "*" : "*/*");
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t f = 0; f < found.gl_pathc && r == 0; f++)
            r = add_folder(vendor, found.gl_pathv[f]);
        globfree(&found);
    }
    return r;
}

// ---- Arm's meshes ----

struct mesh_events {
    char (*names)[PMU_NAMED_MAX];
    int n;
};

// The driver shows events of those nodes alone that the mesh has, with names of its own for some nodes.
static bool has_node(const void *context, const char *node) {
    static const char *const named[][2] = {{"RNI", "rnid_"},   {"RND", "rnid_"},   {"CCGRA", "ccra_"},
                                           {"CCGHA", "ccha_"}, {"CCGLA", "ccla_"}, {"XP", "mxp_"}};
    const struct mesh_events *events = context;
    char prefix[16];
    (void)snprintf(prefix, sizeof prefix, "%.12s_", node);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i][0], node) == 0)
            (void)snprintf(prefix, sizeof prefix, "%s", named[i][1]);
    for (int i = 0; i < events->n; i++)
        if (strncasecmp(events->names[i], prefix, strlen(prefix)) == 0)
            return true;
    return events->n <= 0 || strcmp(prefix, "RNF_") == 0 || strcmp(prefix, "SNF_") == 0 || strcmp(prefix, "CCG_") == 0;
}

// The file whose product is the mesh's, by the part in its identifier: "43c" is CMN-700 (drivers/perf/arm-cmn.c).
static bool is_of(const char *path, const char *identifier) {
    static const char *const parts[][2] = {{"434", "600"}, {"436", "650"}, {"43c", "700"}, {"43e", "s3"}};
    const char *name = strrchr(path, '/');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(parts[i][0], identifier, 3) == 0)
            return strstr(name ? name : path, parts[i][1]) != NULL;
    return false;
}

static int add_mesh(const struct uncore_files *vendor, const char *path) {
    struct uncore_boxes found;
    struct errors told = {0};
    struct mesh_events events = {0};
    struct catalog_builder *builder = NULL;
    char identifier[PERF_PMU_MAX] = "";
    int r = uncore_files_find(vendor, "arm_cmn", &found);
    if (r == 0 && found.n > 0) {
        uncore_find_identifier(&vendor->roots, found.boxes[0].pmu, identifier, sizeof identifier);
        events.n = pmu_named_list(&vendor->roots, found.boxes[0].pmu, "events", &events.names);
        const struct spec_mesh_nodes nodes = {.has = has_node, .context = &events};
        r = is_of(path, identifier) ? spec_json_read_mesh(path, &nodes, &told, &builder) : -ENOENT;
        free(events.names);
    }
    if (r == 0 && builder)
        return add(vendor, "arm_cmn", &found, builder);
    uncore_boxes_deinit(&found);
    return r == -ENOMEM ? r : 0;
}

static int add_meshes(const struct uncore_files *vendor, const char *path) {
    char pattern[DATA_PATH_MAX];
    glob_t found;
    int r = 0;
    (void)snprintf(pattern, sizeof pattern, "%s/cmn/*.json", path);
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t f = 0; f < found.gl_pathc && r >= 0; f++)
        r = add_mesh(vendor, found.gl_pathv[f]);
    globfree(&found);
    return r < 0 ? r : 0;
}

int uncore_vendor_setup(struct setup *setup, const struct options *options) {
    const struct config_specs *specs = &setup->config->specs;
    char trees[DATA_PATH_MAX + 64];
    struct errors told = {0};
    struct environment environment;
    struct uncore_files vendor = {
        .setup = setup, .options = options, .roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs}};
    if (!specs->path || setup->config->uncore.n_named == 0)
        return 0;
    enum spec_format format = specs->format == SPEC_FORMAT_ANY ? spec_format_guess(specs->path, &told) : specs->format;
    if (format == SPEC_FORMAT_ARM)
        return add_meshes(&vendor, specs->path);
    if (format != SPEC_FORMAT_PERF && format != SPEC_FORMAT_PERFMON)
        return 0;
    const struct host_events events = {.roots = vendor.roots, .pmu = "cpu"};
    host_cpu_environment(&events, 0, &environment);
    environment.has_event = NULL; // events of boxes are those of the files
    (void)snprintf(trees, sizeof trees, "%s/specs/perf/trees.json", setup->data);
    vendor.request = (struct perf_json_request){.perfmon = format == SPEC_FORMAT_PERFMON,
                                                .cpuid = environment.facts.cpuid[0] ? environment.facts.cpuid : NULL,
                                                .trees = trees,
                                                .environment = &environment};
    int r = add_folder(&vendor, specs->path);
    return r == 0 && format == SPEC_FORMAT_PERF ? add_systems(&vendor, specs->path) : r;
}
