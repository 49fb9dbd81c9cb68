// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_sim.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/sim/pmu_sim.h"
#include "config/spec/uncore_kinds_json.h"
#include "daemon/source/source_sim.h"
#include "daemon/uncore/uncore_choice.h"

_Static_assert((int)SCENARIO_CORE_TYPES_MAX + (int)SCENARIO_UNCORE_MAX <= (int)SETUP_TYPES_MAX,
               "all kinds of a scenario are measured");

static struct source_sim *of(struct source *source) { return (struct source_sim *)source; }

static void exchange_boxes(struct source *a, struct source *b) {
    source_sim_exchange(a, b);
    a->pmu_name = of(a)->scenario->name;
    b->pmu_name = of(b)->scenario->name;
}

static const struct source_driver DRIVER = {
    .pmu = source_sim_pmu, .exchange = exchange_boxes, .deinit = source_sim_deinit};

// Boxes are named after their kind.
static void name_box(const char *kind, size_t box, char out[UNCORE_NAME_MAX]) {
    (void)snprintf(out, UNCORE_NAME_MAX, "%.40s_%zu", kind, box);
}

size_t uncore_sim_match(const struct scenario *kind, const char *pattern) {
    char name[UNCORE_NAME_MAX];
    size_t n = 0;
    for (size_t box = 0; box < scenario_n_cpus(kind); box++) {
        name_box(kind->name, box, name);
        n += fnmatch(pattern, name, 0) == 0;
    }
    return n;
}

// The boxes that the configuration does not leave out, which are noted. False: there is none.
static bool choose_boxes(const struct config_uncore *config, const char *kind, size_t n, struct source *source,
                         struct cpuset *out) {
    char name[UNCORE_NAME_MAX], first[UNCORE_NAME_MAX] = "";
    size_t n_out = 0;
    *out = (struct cpuset){{0}};
    for (size_t box = 0; box < n; box++) {
        name_box(kind, box, name);
        if (!config_uncore_leaves_out(config, name))
            cpuset_add(out, (unsigned)box);
        else if (n_out++ == 0)
            memcpy(first, name, sizeof first);
    }
    uncore_note_left_out(source, first, n_out, n);
    return n_out < n;
}

// The first CPU of each socket reads its boxes, as on real hosts.
struct uncore_box uncore_sim_box(const struct scenario *host, const struct scenario *kind, size_t box) {
    size_t socket = box / kind->cores_per_socket;
    struct uncore_box made = {.cpu = (unsigned)(socket * host->cores_per_socket),
                              .place = {(int)socket, -1, -1, -1, -1}};
    name_box(kind->name, box, made.pmu);
    return made;
}

double uncore_sim_peak(const struct source *kind) {
    return ((const struct source_sim *)kind)->scenario->memory_bytes_per_second;
}

static int set_facts(const struct scenario *host, const struct scenario *kind, struct topology *boxes) {
    size_t n = scenario_n_cpus(kind);
    struct topology_box *facts = calloc(n, sizeof *facts);
    if (!facts)
        return -ENOMEM;
    for (size_t box = 0; box < n; box++) {
        struct uncore_box made = uncore_sim_box(host, kind, box);
        facts[box] = (struct topology_box){.cpu = (int)made.cpu, .node = made.place.node};
        memcpy(facts[box].pmu, made.pmu, sizeof facts[box].pmu);
    }
    int r = topology_set_boxes(boxes, facts, n);
    free(facts);
    return r;
}

// The group of kinds with this spec on real hosts. A spec of the user's own belongs to none: NULL.
static const char *group_of(const struct uncore_kinds *kinds, const char *spec) {
    for (size_t k = 0; k < kinds->n; k++)
        if (strcmp(kinds->kinds[k].spec, spec) == 0)
            return kinds->kinds[k].group;
    return NULL;
}

// Takes ownership of the kind's scenario.
static int add_kind(struct setup *setup, struct scenario *kind, const char *group, const struct options *options,
                    struct errors *errors) {
    struct source_sim *sim = calloc(1, sizeof *sim);
    struct catalog_builder *builder;
    struct topology *boxes = NULL;
    struct cpuset chosen;
    if (!sim) {
        scenario_free(kind);
        return -ENOMEM;
    }
    sim->source.driver = &DRIVER;
    sim->scenario = kind;
    memcpy(sim->path, of(setup->types[0].source)->path, sizeof sim->path);
    sim->folder = "uncore/";
    int r = uncore_read_spec(setup, kind->spec, errors, &builder);
    if (r == 0) {
        sim->source.catalog = catalog_builder_finish(builder);
        kind->general_counters = sim->source.catalog->general_counters;
        uncore_describe(&sim->source, kind->name, options);
        sim->source.simulated = true;
        sim->source.microarchitecture = sim->source.catalog->product.microarchitecture;
        r = source_make_support(&sim->source, PLAN_SUPPORTED);
    }
    if (r == 0 && !choose_boxes(&setup->config->uncore, kind->name, scenario_n_cpus(kind), &sim->source, &chosen)) {
        bool wanted = !group || config_uncore_selects(&setup->config->uncore, group);
        r = uncore_choice_none_left(setup, kind->name, scenario_n_cpus(kind), wanted);
        source_free(&sim->source); // with the kind's scenario
        return r;
    }
    if (r == 0)
        r = pmu_sim_topology(kind, &chosen, &boxes);
    if (r == 0)
        r = set_facts(of(setup->types[0].source)->scenario, kind, boxes);
    if (r < 0) {
        topology_free(boxes);
        source_free(&sim->source);
        return r;
    }
    boxes->boxes = true;
    for (size_t s = 0; s < boxes->n_sockets && uncore_tells_dram(sim->source.catalog); s++)
        boxes->sockets[s].memory_bytes_per_second = kind->memory_bytes_per_second;
    return uncore_choice_add(setup, &sim->source, boxes, group);
}

int uncore_sim_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    struct scenario *host = of(setup->types[0].source)->scenario;
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
        r = add_kind(setup, kind, group_of(&kinds, kind->spec), options, errors);
    }
    uncore_kinds_json_deinit(&kinds);
    return r < 0 ? r : 0;
}
