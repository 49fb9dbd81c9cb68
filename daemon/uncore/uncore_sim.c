// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/sim/pmu_sim.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/source/source_sim.h"
#include "daemon/uncore/uncore_source.h"

// A simulated host's boxes: a kind is a scenario like a core type's, and a box a core with one thread.

struct uncore_sim {
    struct source source; // first
    struct scenario *scenario;
};

static struct uncore_sim *of(struct source *source) { return (struct uncore_sim *)source; }

static int sim_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    const struct uncore_sim *sim = (const struct uncore_sim *)source;
    const char *unknown = NULL;
    int r = pmu_sim_new(sim->scenario, source->catalog, now_ns, &unknown, out);
    return r == -EINVAL
               ? errors_add(errors, NULL, 0, 0, "the event %.80s has no such rate, or spec uncore/%s does not have it",
                            unknown ? unknown : "?", source->catalog->product.spec)
               : r;
}

// The simulated boxes run on as they are, whatever the scenario's file says by now.
static void sim_exchange(struct source *a, struct source *b) {
    struct scenario *scenario = of(a)->scenario;
    of(a)->scenario = of(b)->scenario;
    of(b)->scenario = scenario;
    a->pmu_name = of(a)->scenario->name;
    b->pmu_name = of(b)->scenario->name;
}

static void sim_deinit(struct source *source) { scenario_free(of(source)->scenario); }

static const struct source_driver DRIVER = {.pmu = sim_pmu, .exchange = sim_exchange, .deinit = sim_deinit};

// Boxes are named after their kind, and the first CPU of each socket reads its boxes, as on real hosts.
static int set_facts(const struct scenario *host, const char *name, struct topology *boxes) {
    struct topology_box *facts = calloc(boxes->n_cpus, sizeof *facts);
    if (!facts)
        return -ENOMEM;
    for (size_t i = 0; i < boxes->n_cpus; i++) {
        facts[i] = (struct topology_box){.cpu = (int)(boxes->cpus[i].socket * host->cores_per_socket), .node = -1};
        (void)snprintf(facts[i].pmu, sizeof facts[i].pmu, "%.40s_%u", name, boxes->cpus[i].id);
    }
    int r = topology_set_boxes(boxes, facts, boxes->n_cpus);
    free(facts);
    return r;
}

// True if a real host with boxes of this spec would measure them. A spec of the user's own belongs to no group.
static bool is_selected(const struct setup *setup, const struct uncore_kinds *kinds, const char *spec) {
    for (size_t k = 0; k < kinds->n; k++)
        if (strcmp(kinds->kinds[k].spec, spec) == 0)
            return config_uncore_selects(&setup->config->uncore, kinds->kinds[k].group);
    return true;
}

// Takes ownership of the kind's scenario.
static int add_kind(struct setup *setup, struct scenario *kind, bool selected, const struct options *options,
                    struct errors *errors) {
    struct uncore_sim *sim = calloc(1, sizeof *sim);
    struct catalog_builder *builder;
    struct topology *boxes = NULL;
    if (!sim) {
        scenario_free(kind);
        return -ENOMEM;
    }
    sim->source.driver = &DRIVER;
    sim->scenario = kind;
    int r = uncore_read_spec(setup, kind->spec, errors, &builder);
    if (r == 0) {
        sim->source.catalog = catalog_builder_finish(builder);
        kind->general_counters = sim->source.catalog->general_counters;
        uncore_describe(&sim->source, kind->name, options);
        sim->source.simulated = true;
        sim->source.microarchitecture = sim->source.catalog->product.microarchitecture;
        r = source_make_support(&sim->source, PLAN_SUPPORTED);
    }
    if (r == 0)
        r = pmu_sim_topology(kind, NULL, &boxes);
    if (r == 0)
        r = set_facts(((struct source_sim *)setup->types[0].source)->scenario, kind->name, boxes);
    if (r < 0) {
        topology_free(boxes);
        source_free(&sim->source);
        return r;
    }
    boxes->boxes = true;
    for (size_t s = 0; s < boxes->n_sockets && uncore_tells_dram(sim->source.catalog); s++)
        boxes->sockets[s].memory_bytes_per_second = kind->memory_bytes_per_second;
    return uncore_add(setup, &sim->source, boxes, selected);
}

int uncore_sim_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    struct scenario *host = ((struct source_sim *)setup->types[0].source)->scenario;
    char path[DATA_PATH_MAX + 64];
    struct uncore_kinds kinds;
    (void)snprintf(path, sizeof path, "%s/specs/uncore/kinds.json", setup->data);
    int r = host->uncore ? uncore_kinds_json_load(path, errors, &kinds) : 0;
    if (!host->uncore || r < 0)
        return r;
    while (host->uncore && r >= 0) {
        struct scenario *kind = host->uncore;
        host->uncore = kind->next;
        kind->next = NULL;
        r = add_kind(setup, kind, is_selected(setup, &kinds, kind->spec), options, errors);
    }
    uncore_kinds_json_deinit(&kinds);
    return r < 0 ? r : 0;
}
