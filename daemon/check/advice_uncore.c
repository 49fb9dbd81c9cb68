// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/memory_peak.h"
#include "collectors/uncore/uncore_find.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/base/run_folder.h"
#include "daemon/check/advice.h"

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

static void advise_patterns(const struct host_roots *roots, const struct config_patterns *patterns, const char *key,
                            struct advice *advice) {
    for (size_t i = 0; i < patterns->n; i++) {
        const struct config_pattern *pattern = &patterns->items[i];
        struct uncore_boxes boxes;
        if (uncore_find_named(roots, pattern->text, &boxes) < 0)
            continue;
        if (boxes.n == 0)
            advice_add_of(advice, "", true, "boxes_missing",
                          "%s:%u: uncore.boxes.%s has %s, which is no box of this host ('topdownd list boxes')",
                          pattern->origin.file, pattern->origin.line, key, pattern->text);
        uncore_boxes_deinit(&boxes);
    }
}

// What the host itself says of each package, 0 where it says nothing.
static void find_peaks(const struct host_roots *roots, const struct options *options, double out[MEMORY_PACKAGES_MAX]) {
    unsigned channels[MEMORY_PACKAGES_MAX];
    char *folder = run_folder_of(options->paths.run);
    double bytes = 0;
    if (memory_peak_read_tables(roots, &bytes) < 0 && folder)
        (void)memory_peak_read_saved(folder, &bytes);
    free(folder);
    memory_peak_count_channels(roots, channels);
    for (size_t p = 0; p < MEMORY_PACKAGES_MAX; p++)
        out[p] = channels[p] * bytes;
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
        if (!config->peaks[i].every && !has_socket(setup, config->peaks[i].socket))
            advice_add_of(advice, "", true, "peak_socket", "%s:%u: uncore.peak names socket %u, which this host lacks",
                          config->peak_origin.file, config->peak_origin.line, config->peaks[i].socket);
}

static void advise_peak(const struct setup *setup, const struct host_roots *roots, const struct options *options,
                        struct advice *advice) {
    const struct config_uncore *config = &setup->config->uncore;
    double host[MEMORY_PACKAGES_MAX];
    if (config->n_peaks == 0)
        return;
    find_peaks(roots, options, host);
    for (unsigned p = 0; p < MEMORY_PACKAGES_MAX; p++) {
        double peak = config_uncore_peak(config, p), ratio = host[p] > 0 ? peak / host[p] : 1;
        if (peak > 0 && (ratio < 1 - PEAK_TOLERANCE || ratio > 1 + PEAK_TOLERANCE))
            advice_add(advice, "peak_differs", "write uncore.peak: auto, or what the modules can do",
                       "%s:%u: uncore.peak of socket %u is %.1f GB/s, and its channels and their speed make %.1f GB/s",
                       config->peak_origin.file, config->peak_origin.line, p, peak / GIGABYTE, host[p] / GIGABYTE);
    }
}

// Words of uncore.groups for which this host shows no PMU. The default one is nobody's choice.
static void advise_groups(const struct setup *setup, const struct uncore_host *host, struct advice *advice) {
    static const char *const words[] = {"remote", "llc", "interconnect", "io"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        bool wanted = config_uncore_selects(&setup->config->uncore, words[w]), known = false, there = false;
        for (size_t i = 0; i < host->n; i++) {
            bool same = strcmp(host->found[i].kind->group, words[w]) == 0;
            known = known || same;
            there = there || (same && host->found[i].boxes.n > 0);
        }
        if (wanted && !there)
            advice_add_of(advice, "", true, "uncore_groups",
                          known ? "uncore.groups has %s: this host shows no PMU for it, its kernel may lack the driver"
                                : "uncore.groups has %s: topdownd knows no PMU for it on this CPU",
                          words[w]);
    }
}

static void find_kinds(const struct setup *setup, const struct host_roots *roots, struct advice *advice) {
    const char *specs[SOURCE_TYPES_MAX];
    char path[DATA_PATH_MAX + 64];
    struct errors ignored = {.n = 0}; // the set-up has read the same file
    struct uncore_kinds kinds;
    struct uncore_host host;
    struct host_kinds cores;
    size_t n = 0;
    (void)snprintf(path, sizeof path, "%s/specs/uncore/kinds.json", setup->data);
    host_cores_find(roots, &setup->specs.cpus, false, &cores);
    for (size_t i = 0; i < cores.n; i++)
        if (cores.kinds[i].row)
            specs[n++] = cores.kinds[i].row->spec;
    if (uncore_kinds_json_load(path, &ignored, &kinds) < 0)
        return;
    if (uncore_find(roots, &kinds, specs, n, &host) == 0) {
        advise_groups(setup, &host, advice);
        uncore_host_deinit(&host);
    }
    uncore_kinds_json_deinit(&kinds);
}

void advice_uncore(const struct setup *setup, const struct options *options, struct advice *advice) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    const struct source *first = setup->types[0].source;
    advise_troubles(setup, advice);
    if (first->replayed || setup->config->uncore.off)
        return;
    advise_sockets(setup, advice);
    if (first->simulated)
        return;
    advise_patterns(&roots, &setup->config->uncore.boxes.include, "include", advice);
    advise_patterns(&roots, &setup->config->uncore.boxes.exclude, "exclude", advice);
    advise_peak(setup, &roots, options, advice);
    find_kinds(setup, &roots, advice);
}
