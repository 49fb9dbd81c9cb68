// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/memory_peak.h"
#include "daemon/base/run_folder.h"
#include "daemon/check/advice_private.h"

static const double GIGABYTE = 1e9, PEAK_TOLERANCE = 0.1; // of the host's own

// What was noted of kinds, and of PMUs that the configuration names; a host without any PMU is no news.
static void advise_troubles(const struct setup *setup, struct advice *advice) {
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

static void advise_peak(const struct setup *setup, const struct host_roots *roots, const struct options *options,
                        struct advice *advice) {
    const struct config_uncore *config = &setup->config->uncore;
    double host[MEMORY_PACKAGES_MAX];
    if (config->n_peaks == 0)
        return;
    char *folder = run_folder_of(options->paths.run);
    memory_peak_find(roots, folder, host);
    free(folder);
    for (unsigned p = 0; p < MEMORY_PACKAGES_MAX; p++) {
        double peak = config_uncore_peak(config, p), ratio = host[p] > 0 ? peak / host[p] : 1;
        if (peak > 0 && (ratio < 1 - PEAK_TOLERANCE || ratio > 1 + PEAK_TOLERANCE)) {
            advice_add(advice, "peak_differs", "write uncore.peak: auto, or what the modules can do",
                       "uncore.peak of socket %u is %.1f GB/s, and its channels and their speed make %.1f GB/s", p,
                       peak / GIGABYTE, host[p] / GIGABYTE);
            advice_place(advice, config->peak_origin);
        }
    }
}

void advice_uncore(const struct setup *setup, const struct options *options, struct advice *advice) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    const struct source *first = setup->types[0].source;
    advise_troubles(setup, advice);
    if (first->replayed || setup->config->uncore.off)
        return;
    advise_sockets(setup, advice);
    if (!first->simulated) {
        advice_boxes_of_host(&setup->config->uncore.boxes, &roots, advice);
        advise_peak(setup, &roots, options, advice);
    }
    advice_uncore_groups(setup, &roots, advice);
}
