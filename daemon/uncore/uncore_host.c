// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/memory/memory_nodes.h"
#include "collectors/uncore/memory_peak.h"
#include "collectors/uncore/uncore_find.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/base/run_folder.h"
#include "daemon/uncore/uncore_choice.h"
#include "daemon/uncore/uncore_linux.h"
#include "daemon/uncore/uncore_scale.h"
#include "daemon/uncore/uncore_source.h"

// This host's boxes, of the kinds that hosts with its CPU may have.

// Reads the kind's spec in the format of its first box, which all boxes have.
static int bind_spec(struct uncore_linux *kind, const struct setup *setup, const char *spec, struct errors *errors) {
    struct catalog_builder *builder;
    int r = uncore_read_spec(setup, spec, errors, &builder);
    if (r == 0)
        r = uncore_linux_bind(kind, builder);
    if (r == 0) // the first one also where it is left out: formats are those of the kind
        uncore_note_scale(&kind->source, &kind->boxes.boxes[0]);
    return r;
}

// Where channels or their speed are not known, the firmware's rating is the peak, if it has one.
static int add_peak(const struct options *options, const struct host_roots *roots, struct topology *boxes) {
    double peaks[MEMORY_PACKAGES_MAX];
    char *folder = run_folder_of(options->paths.run);
    struct host_memory *memory = folder ? host_memory_new() : NULL;
    if (!memory) {
        free(folder);
        return -ENOMEM;
    }
    memory_peak_find(roots, folder, peaks);
    free(folder);
    memory_nodes_read(roots, memory);
    for (size_t s = 0; s < boxes->n_sockets; s++) {
        struct topology_socket *socket = &boxes->sockets[s];
        double peak = socket->id < MEMORY_PACKAGES_MAX ? peaks[socket->id] : 0;
        socket->memory_bytes_per_second = peak > 0 ? peak : host_memory_rated(memory, socket->id);
        socket->peak = peak > 0 ? TOPOLOGY_PEAK_HOST : TOPOLOGY_PEAK_FIRMWARE;
    }
    host_memory_unref(memory);
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

static void note_left_out(struct source *source, const struct uncore_boxes *boxes) {
    const struct uncore_box *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < boxes->n; i++) {
        if (!boxes->boxes[i].left_out)
            continue;
        first = first ? first : &boxes->boxes[i];
        n++;
    }
    uncore_note_left_out(source, first ? first->pmu : "", n, boxes->n);
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
    note_left_out(&kind->source, &kind->boxes);
    return uncore_choice_add(setup, &kind->source, boxes, group);
}

static int add_kinds(struct setup *setup, struct uncore_host *host, const struct options *options,
                     struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < host->n && r >= 0; i++) {
        struct uncore_found *found = &host->found[i];
        if (found->boxes.n == 0 || !uncore_choice_wants(setup, found->kind, found->boxes.n, &r))
            continue;
        r = choose_boxes(setup, &found->boxes)
                ? add_kind(setup, found, options, errors)
                : uncore_choice_none_left(setup, found->kind->name, found->boxes.n, true);
    }
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

int uncore_host_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    char path[DATA_PATH_MAX + 64];
    struct uncore_kinds kinds;
    struct uncore_host host;
    (void)snprintf(path, sizeof path, "%s/specs/uncore/kinds.json", setup->data);
    int r = uncore_kinds_json_load(path, errors, &kinds);
    if (r < 0)
        return r;
    r = uncore_find_here(&roots, &setup->specs.cpus, &kinds, &host);
    if (r == 0) {
        if (has_none(&host))
            note_none(setup);
        r = add_kinds(setup, &host, options, errors);
        uncore_host_deinit(&host);
    }
    uncore_kinds_json_deinit(&kinds);
    return r;
}
