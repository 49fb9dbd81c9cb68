// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/memory_peak.h"
#include "daemon/base/run_folder.h"
#include "daemon/check/advice_private.h"
#include "daemon/uncore/uncore_sim.h"
#include "daemon/uncore/uncore_source.h"

static const double GIGABYTE = 1e9, PEAK_TOLERANCE = 0.1; // of the host's own

// A host without any PMU is no news.
void advice_troubles(const struct setup *setup, struct advice *advice) {
    const struct source_troubles *first = &setup->types[0].source->troubles;
    for (size_t i = 0; i < first->n; i++)
        if (first->errors[i].uncore &&
            (strcmp(first->errors[i].pmu, "uncore") != 0 || strcmp(first->errors[i].reason, "not_present") != 0))
            advice_add_of(advice, "", true, "pmu", "%s", first->errors[i].text);
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++) {
        const struct source *source = setup->types[i].source;
        for (size_t t = 0; t < source->troubles.n; t++)
            advice_add_of(advice, source->prefix, true, "pmu", "%s", source->troubles.errors[t].text);
    }
}

static bool has_socket(const struct setup *setup, unsigned id) {
    for (size_t i = 0; i < setup->n_types; i++)
        for (size_t s = 0; s < setup->types[i].topology->n_sockets; s++)
            if (setup->types[i].topology->sockets[s].id == id)
                return true;
    return false;
}

static void advise_sockets(const struct setup *setup, struct advice *advice) {
    const struct config_uncore *config = &setup->config->uncore;
    for (size_t i = 0; i < config->n_peaks; i++)
        if (!config->peaks[i].every && !has_socket(setup, config->peaks[i].socket)) {
            advice_add_of(advice, "", true, "peak_socket", "uncore.peak names socket %u, which this host lacks",
                          config->peaks[i].socket);
            advice_place(advice, config->peak_origin);
        }
}

// What is known of the memory of a socket without the configuration.
struct known {
    double bytes;    // a second, of all its boxes; 0: unknown
    double measured; // the share of the boxes that are not left out
};

// The kinds of a set-up that tell what DRAM moves: which boxes are left out, and of a simulated host the peak.
static void find_boxes(const struct setup *setup, struct known known[MEMORY_PACKAGES_MAX]) {
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++) {
        const struct source *source = setup->types[i].source;
        const struct topology *boxes = setup->types[i].topology;
        for (size_t s = 0; s < boxes->n_sockets && uncore_tells_dram(source->catalog); s++) {
            const struct topology_socket *socket = &boxes->sockets[s];
            if (socket->id >= MEMORY_PACKAGES_MAX)
                continue;
            known[socket->id].measured = (double)socket->measured / (socket->measured + socket->excluded);
            if (source->simulated)
                known[socket->id].bytes = uncore_sim_peak(source);
        }
    }
}

static void find_known(const struct setup *setup, const struct host_roots *roots, const struct options *options,
                       struct known known[MEMORY_PACKAGES_MAX]) {
    double host[MEMORY_PACKAGES_MAX] = {0};
    if (!setup->types[0].source->simulated) {
        char *folder = run_folder_of(options->paths.run);
        memory_peak_find(roots, folder, host);
        free(folder);
    }
    for (unsigned p = 0; p < MEMORY_PACKAGES_MAX; p++)
        known[p] = (struct known){.bytes = host[p], .measured = 1};
    find_boxes(setup, known);
}

// Where boxes are left out, the peak of the others is as right as that of all.
static void advise_peak(const struct setup *setup, const struct host_roots *roots, const struct options *options,
                        struct advice *advice) {
    const struct config_uncore *config = &setup->config->uncore;
    const char *source =
        setup->types[0].source->simulated ? "its scenario states" : "its channels and their speed make";
    struct known known[MEMORY_PACKAGES_MAX];
    if (config->n_peaks == 0)
        return;
    find_known(setup, roots, options, known);
    for (unsigned p = 0; p < MEMORY_PACKAGES_MAX; p++) {
        double peak = config_uncore_peak(config, p), ratio = known[p].bytes > 0 ? peak / known[p].bytes : 1;
        if (peak > 0 && (ratio < (1 - PEAK_TOLERANCE) * known[p].measured || ratio > 1 + PEAK_TOLERANCE)) {
            advice_add(advice, "peak_differs", "write uncore.peak: auto, or what the modules can do",
                       "uncore.peak of socket %u is %.6g GB/s, and %s %.6g GB/s", p, peak / GIGABYTE, source,
                       known[p].bytes / GIGABYTE);
            advice_place(advice, config->peak_origin);
        }
    }
}

void advice_uncore(const struct setup *setup, const struct options *options, struct advice *advice) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    const struct source *first = setup->types[0].source;
    if (first->replayed || setup->config->uncore.off)
        return;
    advise_sockets(setup, advice);
    advise_peak(setup, &roots, options, advice);
    if (!first->simulated)
        advice_boxes_of_host(&setup->config->uncore.boxes, &roots, advice);
    advice_uncore_groups(setup, &roots, advice);
}
