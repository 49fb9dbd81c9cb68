// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/uncore/memory_peak.h"
#include "collectors/uncore/pmu_boxes.h"
#include "collectors/uncore/uncore_find.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/base/run_folder.h"
#include "daemon/uncore/uncore_scale.h"
#include "daemon/uncore/uncore_source.h"

// This host's boxes, of the kinds that hosts with its CPU may have.

struct uncore_linux {
    struct source source; // first
    struct uncore_boxes boxes;
    char name[UNCORE_NAME_MAX];
};

static struct uncore_linux *of(struct source *source) { return (struct uncore_linux *)source; }

static int linux_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    (void)now_ns;
    (void)errors;
    return pmu_boxes_new(&source->roots, &((const struct uncore_linux *)source)->boxes, out);
}

// The CPU that reads a box may have changed: the PMU looks it up again.
static bool linux_same(const struct source *a, const struct source *b) {
    const struct uncore_boxes *x = &((const struct uncore_linux *)a)->boxes,
                              *y = &((const struct uncore_linux *)b)->boxes;
    bool same = x->n == y->n;
    for (size_t i = 0; same && i < x->n; i++)
        same = x->boxes[i].type == y->boxes[i].type && x->boxes[i].package == y->boxes[i].package;
    return same;
}

static void linux_deinit(struct source *source) { uncore_boxes_deinit(&of(source)->boxes); }

static const struct source_driver DRIVER = {.pmu = linux_pmu, .same = linux_same, .deinit = linux_deinit};

// Reads the kind's spec in the format of its first box, which all boxes have.
static int bind_spec(struct uncore_linux *kind, const struct setup *setup, const char *spec, struct errors *errors) {
    struct source *source = &kind->source;
    struct host_binding binding;
    struct catalog_builder *builder;
    const struct uncore_box *first = &kind->boxes.boxes[0];
    int r = uncore_read_spec(setup, spec, errors, &builder);
    if (r < 0)
        return r;
    r = host_bind(&source->roots, first->pmu, first->type, builder, &binding);
    if (r < 0) {
        catalog_builder_free(builder);
        return r;
    }
    source->catalog = catalog_builder_finish(builder);
    source->support = binding.support; // takes ownership
    uncore_note_scale(source, first);
    return 0;
}

// What root has saved counts where the firmware's tables are not for this user. Without either there is no peak.
static int add_peak(const struct options *options, const struct host_roots *roots, struct topology *boxes) {
    unsigned channels[MEMORY_PACKAGES_MAX];
    double bytes = 0;
    char *folder = run_folder_of(options->paths.run);
    if (!folder)
        return -ENOMEM;
    if (memory_peak_read_tables(roots, &bytes) < 0)
        (void)memory_peak_read_saved(folder, &bytes);
    free(folder);
    memory_peak_count_channels(roots, channels);
    for (size_t s = 0; s < boxes->n_sockets; s++)
        if (boxes->sockets[s].id < MEMORY_PACKAGES_MAX)
            boxes->sockets[s].memory_bytes_per_second = channels[boxes->sockets[s].id] * bytes;
    return 0;
}

// Takes over the boxes.
static int add_kind(struct setup *setup, struct uncore_found *found, const struct options *options,
                    struct errors *errors) {
    struct uncore_linux *kind = calloc(1, sizeof *kind);
    struct topology *boxes = NULL;
    const char *group = found->kind->group;
    if (!kind)
        return -ENOMEM;
    kind->source.driver = &DRIVER;
    kind->boxes = found->boxes;
    found->boxes = (struct uncore_boxes){0};
    (void)snprintf(kind->name, sizeof kind->name, "%s", found->kind->name);
    uncore_describe(&kind->source, kind->name, options);
    int r = bind_spec(kind, setup, found->kind->spec, errors);
    if (r == 0)
        r = uncore_topology(&kind->boxes, &boxes);
    if (r == 0 && strcmp(group, "memory") == 0)
        r = add_peak(options, &kind->source.roots, boxes);
    if (r < 0) {
        topology_free(boxes);
        source_free(&kind->source);
        return r;
    }
    kind->source.microarchitecture = kind->source.catalog->product.microarchitecture;
    return uncore_add(setup, &kind->source, boxes, config_uncore_selects(&setup->config->uncore, group));
}

static int add_kinds(struct setup *setup, struct uncore_host *host, const struct options *options,
                     struct errors *errors) {
    const struct config_uncore *config = &setup->config->uncore;
    int r = 0;
    for (size_t i = 0; i < host->n && r >= 0; i++) // a kind that is not selected may have a group that is named
        if (host->found[i].boxes.n > 0 &&
            (config->n_named > 0 || config_uncore_selects(config, host->found[i].kind->group)))
            r = add_kind(setup, &host->found[i], options, errors);
    return r < 0 ? r : 0;
}

// False where the host has boxes, of whatever group.
static bool has_none(const struct uncore_host *host) {
    size_t n = 0;
    for (size_t i = 0; i < host->n; i++)
        n += host->found[i].boxes.n;
    return n == 0;
}

static void note_none(struct setup *setup) {
    struct source *first = setup->types[0].source;
    source_note(first, "uncore", "not_present",
                "this host shows no PMU outside its cores that topdownd knows, as most virtual machines: memory "
                "bandwidth is not measured");
    first->troubles.errors[first->troubles.n - 1].uncore = true;
}

// The CPU counts, whatever is measured of it: a host may hide its cores' PMU, or have a vendor's files.
int uncore_host_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    const char *specs[HOST_CORES_MAX];
    struct host_kinds cores;
    size_t n = 0;
    char path[DATA_PATH_MAX + 64];
    struct uncore_kinds kinds;
    struct uncore_host host;
    (void)snprintf(path, sizeof path, "%s/specs/uncore/kinds.json", setup->data);
    host_cores_find(&roots, &setup->specs.cpus, false, &cores);
    for (size_t i = 0; i < cores.n; i++)
        if (cores.kinds[i].row)
            specs[n++] = cores.kinds[i].row->spec;
    int r = uncore_kinds_json_load(path, errors, &kinds);
    if (r < 0)
        return r;
    r = uncore_find(&roots, &kinds, specs, n, &host);
    if (r == 0) {
        if (has_none(&host))
            note_none(setup);
        r = add_kinds(setup, &host, options, errors);
        uncore_host_deinit(&host);
    }
    uncore_kinds_json_deinit(&kinds);
    return r;
}
