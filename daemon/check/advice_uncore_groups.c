// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/uncore_find.h"
#include "config/scenario/scenario_json.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/check/advice_private.h"
#include "daemon/source/source_sim.h"

// Words of `uncore.groups` for which a host has no PMU. The default one, memory, is nobody's choice.
static const char *const WORDS[] = {"memory", "remote", "llc", "interconnect", "io"};
enum { WORDS_N = sizeof WORDS / sizeof *WORDS };

struct looked {
    bool known, there; // topdownd knows such a PMU for this CPU; this host has one
};

static void advise_words(const struct setup *setup, const struct looked looked[WORDS_N], struct advice *advice) {
    bool simulated = setup->types[0].source->simulated;
    for (size_t w = 0; w < WORDS_N; w++) {
        struct config_origin at = config_uncore_origin(&setup->config->uncore, WORDS[w]);
        if (!at.file || looked[w].there)
            continue;
        advice_add_of(advice, "", true, "uncore_groups", "uncore.groups has %s: %s", WORDS[w],
                      simulated         ? "the scenario has no kind of PMU for it"
                      : looked[w].known ? "this host shows no PMU for it, its kernel may lack the driver"
                                        : "topdownd knows no PMU for it on this CPU");
        advice_place(advice, at);
    }
}

static bool measures(const struct core_type *type, const char *group) {
    int found = catalog_find_group(type->source->catalog, group);
    for (size_t s = 0; s < type->n_selections; s++)
        if ((int)type->selections[s].group == found)
            return true;
    return false;
}

// Metric groups that no kind measures here. Where the vendor's files are used, the set-up warns of it.
static void advise_named(const struct setup *setup, struct advice *advice) {
    const struct config_uncore *config = &setup->config->uncore;
    for (size_t i = 0; i < config->n_named && !setup->config->specs.path; i++) {
        bool measured = false;
        for (size_t k = setup->n_types; k < setup->n_types + setup->n_boxes; k++)
            measured = measured || measures(&setup->types[k], config->named[i].name);
        if (measured)
            continue;
        advice_add_of(advice, "", true, "uncore_groups",
                      "uncore.groups has %s: no PMU of this host has this metric group, or another kind measures its "
                      "metrics already",
                      config->named[i].name);
        advice_place(advice, config->named[i].origin);
    }
}

// ---- this host ----

static void look_at_host(const struct setup *setup, const struct host_roots *roots, const struct uncore_kinds *kinds,
                         struct looked looked[WORDS_N]) {
    struct uncore_host host;
    if (uncore_find_here(roots, &setup->specs.cpus, kinds, &host) < 0)
        return;
    for (size_t i = 0; i < host.n; i++)
        for (size_t w = 0; w < WORDS_N; w++) {
            bool same = strcmp(host.found[i].kind->group, WORDS[w]) == 0;
            looked[w].known = looked[w].known || same;
            looked[w].there = looked[w].there || (same && host.found[i].boxes.n > 0);
        }
    uncore_host_deinit(&host);
}

// ---- a simulated host ----

static void look_at_kind(const struct uncore_kinds *kinds, const char *spec, struct looked looked[WORDS_N]) {
    for (size_t k = 0; k < kinds->n; k++)
        for (size_t w = 0; w < WORDS_N; w++)
            if (strcmp(kinds->kinds[k].spec, spec) == 0 && strcmp(kinds->kinds[k].group, WORDS[w]) == 0)
                looked[w].there = true;
}

// The set-up has taken the kinds out of the scenario that it read.
static void look_at_scenario(const struct setup *setup, const struct uncore_kinds *kinds, struct looked looked[WORDS_N],
                             struct advice *advice) {
    struct errors ignored = {.n = 0};
    struct scenario *host;
    if (scenario_json_load(((const struct source_sim *)setup->types[0].source)->path, &ignored, &host) < 0)
        return;
    for (const struct scenario *kind = host->uncore; kind; kind = kind->next)
        look_at_kind(kinds, kind->spec, looked);
    advice_boxes_of_scenario(&setup->config->uncore.boxes, host, advice);
    scenario_free(host);
}

void advice_uncore_groups(const struct setup *setup, const struct host_roots *roots, struct advice *advice) {
    struct looked looked[WORDS_N] = {{0}};
    char path[DATA_PATH_MAX + 64];
    struct errors ignored = {.n = 0}; // the set-up has read the same file
    struct uncore_kinds kinds;
    (void)snprintf(path, sizeof path, "%s/specs/uncore/kinds.json", setup->data);
    if (uncore_kinds_json_load(path, &ignored, &kinds) < 0)
        return;
    if (setup->types[0].source->simulated)
        look_at_scenario(setup, &kinds, looked, advice);
    else
        look_at_host(setup, roots, &kinds, looked);
    advise_words(setup, looked, advice);
    advise_named(setup, advice);
    uncore_kinds_json_deinit(&kinds);
}
