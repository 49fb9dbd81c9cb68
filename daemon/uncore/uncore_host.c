// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/uncore/memory_peak.h"
#include "collectors/uncore/uncore_find.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/base/run_folder.h"
#include "daemon/uncore/uncore_linux.h"
#include "daemon/uncore/uncore_scale.h"
#include "daemon/uncore/uncore_source.h"

// This host's boxes, of the kinds that hosts with its CPU may have.

// Reads the kind's spec in the format of its first box, which all boxes have.
static int bind_spec(struct uncore_linux *kind, const struct setup *setup, const char *spec, struct errors *errors) {
    struct source *source = &kind->source;
    struct host_binding binding;
    struct catalog_builder *builder;
    const struct uncore_box *first = &kind->boxes.boxes[0]; // also where it is left out: formats are those of the kind
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

// Marks the boxes that the configuration leaves out. False: it leaves out all of them.
static bool choose_boxes(const struct setup *setup, struct uncore_boxes *boxes) {
    bool any = false;
    for (size_t i = 0; i < boxes->n; i++) {
        boxes->boxes[i].left_out = config_uncore_leaves_out(&setup->config->uncore, boxes->boxes[i].pmu);
        any = any || !boxes->boxes[i].left_out;
    }
    return any;
}

// A sum over some of a socket's boxes is not the socket's.
static void note_left_out(struct source *source, const struct uncore_boxes *boxes) {
    const struct uncore_box *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < boxes->n; i++) {
        if (!boxes->boxes[i].left_out)
            continue;
        first = first ? first : &boxes->boxes[i];
        n++;
    }
    if (n > 0)
        source_note(source, source->pmu_name, "left_out",
                    "uncore.boxes leaves out %zu of %zu boxes (%s%s): sums are of the others alone, not of the whole "
                    "socket, and a peak of its memory is shown only if uncore.peak says one",
                    n, boxes->n, first->pmu, n > 1 ? " and others" : "");
}

// Takes over the boxes.
static int add_kind(struct setup *setup, struct uncore_found *found, const struct options *options,
                    struct errors *errors) {
    struct uncore_linux *kind = uncore_linux_new(found->kind->name, &found->boxes, options);
    struct topology *boxes = NULL;
    const char *group = found->kind->group;
    if (!kind)
        return -ENOMEM;
    int r = bind_spec(kind, setup, found->kind->spec, errors);
    if (r == 0)
        r = uncore_topology(&kind->boxes, &boxes);
    if (r == 0 && uncore_tells_dram(kind->source.catalog))
        r = add_peak(options, &kind->source.roots, boxes);
    if (r < 0) {
        topology_free(boxes);
        source_free(&kind->source);
        return r;
    }
    kind->source.microarchitecture = kind->source.catalog->product.microarchitecture;
    note_left_out(&kind->source, &kind->boxes);
    return uncore_add(setup, &kind->source, boxes, config_uncore_selects(&setup->config->uncore, group));
}

static int add_kinds(struct setup *setup, struct uncore_host *host, const struct options *options,
                     struct errors *errors) {
    const struct config_uncore *config = &setup->config->uncore;
    int r = 0;
    for (size_t i = 0; i < host->n && r >= 0; i++) // a kind that is not selected may have a group that is named
        if (host->found[i].boxes.n > 0 &&
            (config->n_named > 0 || config_uncore_selects(config, host->found[i].kind->group)) &&
            choose_boxes(setup, &host->found[i].boxes))
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
