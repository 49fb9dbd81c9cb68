// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_file.h"
#include "config/spec/spec_json.h"
#include "daemon/uncore/uncore_groups.h"

int uncore_read_spec(const struct setup *setup, const char *spec, struct errors *errors, struct catalog_builder **out) {
    char path[DATA_PATH_MAX + 512];
    (void)snprintf(path, sizeof path, "%s/specs/uncore/%.200s.json", setup->data, spec);
    return spec_json_read(path, NULL, errors, out);
}

void uncore_describe(struct source *source, const char *name, const struct options *options) {
    source->pmu_name = name;
    source->roots =
        (struct host_roots){.sysfs = options->paths.sysfs, .procfs = options->paths.procfs, .kept = host_files_new()};
    (void)snprintf(source->prefix, sizeof source->prefix, "PMUs %s: ", name);
}

static bool tells(const struct catalog *catalog, enum traffic traffic) {
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].traffic == traffic)
            return true;
    return false;
}

// Some hosts show the same bytes at two places, such as the memory controller and the mesh before it.
const char *uncore_told_by(const struct setup *setup, const struct catalog *catalog) {
    for (int traffic = TRAFFIC_NONE + 1; traffic < TRAFFIC_N; traffic++)
        for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++)
            if (tells(catalog, (enum traffic)traffic) && tells(setup->types[i].source->catalog, (enum traffic)traffic))
                return setup->types[i].source->pmu_name;
    return NULL;
}

// Puts the configured peak of each socket's memory in the place of the host's. Where boxes are left out, the host's is
// no peak of what the others move.
static void choose_peak(const struct setup *setup, struct topology *boxes) {
    for (size_t s = 0; s < boxes->n_sockets; s++) {
        struct topology_socket *socket = &boxes->sockets[s];
        double configured = config_uncore_peak(&setup->config->uncore, socket->id);
        if (configured > 0 || socket->excluded > 0)
            socket->memory_bytes_per_second = configured;
        if (configured > 0)
            socket->peak = TOPOLOGY_PEAK_CONFIGURED;
        else if (!(socket->memory_bytes_per_second > 0))
            socket->peak = TOPOLOGY_PEAK_UNKNOWN;
        else if (socket->peak == TOPOLOGY_PEAK_UNKNOWN)
            socket->peak = TOPOLOGY_PEAK_HOST;
    }
}

bool uncore_tells_dram(const struct catalog *catalog) {
    return tells(catalog, TRAFFIC_MEMORY_READ) || tells(catalog, TRAFFIC_MEMORY_WRITE) ||
           tells(catalog, TRAFFIC_MEMORY_ALL);
}

void uncore_note_left_out(struct source *source, const char *first, size_t n_out, size_t n) {
    if (n_out > 0)
        source_note(source, source->pmu_name, "left_out",
                    "uncore.boxes leaves out %zu of %zu boxes (%s%s): sums are of the others alone, not of the whole "
                    "socket, and a peak of its memory is shown only if uncore.peak says one",
                    n_out, n, first, n_out > 1 ? " and others" : "");
}

void uncore_note_kind(const struct setup *setup, const char *reason, const char *text, const char *kind) {
    struct source *first = setup->types[0].source;
    struct source_troubles *troubles = &first->troubles;
    for (size_t i = 0; i < troubles->n; i++) {
        size_t length = strlen(troubles->texts[i]);
        if (troubles->errors[i].uncore && strcmp(troubles->errors[i].reason, reason) == 0) {
            (void)snprintf(troubles->texts[i] + length, SOURCE_TEXT_MAX - length, ", %s", kind);
            return;
        }
    }
    source_note(first, "uncore", reason, "%s: %s", text, kind);
    troubles->errors[troubles->n - 1].uncore = true;
}

static void note_no_room(const struct setup *setup, const char *kind) {
    char text[SOURCE_TEXT_MAX / 2];
    (void)snprintf(text, sizeof text,
                   "beside the cores there is room for %zu kinds of PMUs, so that some are not measured: choose with "
                   "uncore.groups and uncore.pmus which. Left out",
                   SETUP_TYPES_MAX - setup->n_types);
    uncore_note_kind(setup, "no_room", text, kind);
}

int uncore_add(struct setup *setup, struct source *source, struct topology *boxes, bool recommended) {
    struct core_type type = {.source = source, .topology = boxes};
    size_t at = setup->n_types + setup->n_boxes;
    int n = uncore_told_by(setup, source->catalog)
                ? 0
                : uncore_groups_select(setup, source->catalog, recommended, &type.selections);
    if (n > 0 && at == SETUP_TYPES_MAX) {
        note_no_room(setup, source->pmu_name);
        n = 0;
    }
    if (n > 0 && uncore_tells_dram(source->catalog))
        choose_peak(setup, boxes);
    if (n > 0) {
        type.n_selections = (size_t)n;
        setup->types[at] = type;
        setup->n_boxes++;
        return 1;
    }
    free(type.selections);
    topology_free(boxes);
    source_free(source);
    return n;
}
