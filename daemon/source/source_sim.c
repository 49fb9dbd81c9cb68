// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_sim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_file.h"
#include "collectors/sim/pmu_sim.h"
#include "config/scenario/scenario_json.h"
#include "daemon/source/source_vendor.h"

_Static_assert((int)SCENARIO_CORE_TYPES_MAX <= (int)SOURCE_TYPES_MAX, "all types of a scenario are measured");

static struct source_sim *of(struct source *source) { return (struct source_sim *)source; }
static const struct source_sim *of_const(const struct source *source) { return (const struct source_sim *)source; }

static int sim_topology(struct source *source, const struct cpuset *selected, struct errors *errors,
                        struct topology **out) {
    int r = pmu_sim_topology(of(source)->scenario, selected, out);
    if (r == -EINVAL && source->several)
        return -ENOENT;
    return r == -EINVAL ? errors_add(errors, NULL, 0, 0, "the simulated host has none of the CPUs that `cpus` names")
                        : r;
}

int source_sim_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    const struct source_sim *sim = of_const(source);
    const char *unknown = NULL;
    int r = pmu_sim_new(sim->scenario, source->catalog, now_ns, &unknown, out);
    return r == -EINVAL
               ? errors_add(errors, sim->path, 0, 0, "the event %.80s has no such rate, or spec %s%s does not have it",
                            unknown ? unknown : "?", sim->folder, source->catalog->product.spec)
               : r;
}

void source_sim_exchange(struct source *a, struct source *b) {
    struct scenario *scenario = of(a)->scenario;
    of(a)->scenario = of(b)->scenario;
    of(b)->scenario = scenario;
}

static void exchange_cores(struct source *a, struct source *b) {
    source_sim_exchange(a, b);
    a->own_spec = of(a)->scenario->spec;
    b->own_spec = of(b)->scenario->spec;
}

void source_sim_deinit(struct source *source) { scenario_free(of(source)->scenario); }

static const struct source_driver DRIVER = {
    .topology = sim_topology, .pmu = source_sim_pmu, .exchange = exchange_cores, .deinit = source_sim_deinit};

// ---- filling ----

// Sets the facts of a simulated host that formulas may use.
static void describe_scenario(const struct scenario *scenario, struct environment *out) {
    double sockets = scenario->sockets, cores = sockets * scenario->cores_per_socket;
    environment_init(out);
    double *literals = out->facts.literals;
    literals[LITERAL_SMT_ON] = scenario->threads_per_core > 1;
    literals[LITERAL_NUM_CPUS] = literals[LITERAL_NUM_CPUS_ONLINE] = cores * scenario->threads_per_core;
    literals[LITERAL_NUM_CORES] = cores;
    literals[LITERAL_NUM_DIES] = literals[LITERAL_NUM_PACKAGES] = sockets;
    literals[LITERAL_HAS_PMEM] = 0;
    if (scenario->clock_hz > 0)
        literals[LITERAL_SYSTEM_TSC_FREQ] = scenario->clock_hz;
}

static int find_scenario(struct source_sim *sim, const struct source_request *request, struct errors *errors) {
    const char *name = request->options->scenario ? request->options->scenario : "demo";
    return data_find_scenario(request->data, name, errors, sim->path, sizeof sim->path);
}

static int load_spec(struct source_sim *sim, const struct source_request *request, struct errors *errors) {
    struct environment environment;
    char cpuid[HOST_CPUID_MAX];
    describe_scenario(sim->scenario, &environment);
    source_vendor_cpuid(&request->specs->cpus, sim->scenario->spec, cpuid, sizeof cpuid);
    // a scenario may have events that no metric reads
    const struct source_vendors vendors = {.cpuid = cpuid, .environment = &environment, .all_events = true};
    struct catalog_builder *builder;
    int r = source_load_vendors(&sim->source, request, &vendors, errors, &builder);
    if (r == 1)
        r = specs_read(request->specs, sim->scenario->spec, &environment, errors, &builder);
    if (r < 0)
        return r;
    r = specs_add_software(request->specs, errors, builder);
    if (r == 0)
        sim->source.catalog = catalog_builder_finish(builder);
    else
        catalog_builder_free(builder);
    return r;
}

// As a host's files tell (collectors/host/host_bind.h): what caches and memory count belongs to no CPU, simulated or
// not.
static int make_support(struct source *source) {
    int r = source_make_support(source, PLAN_SUPPORT_UNKNOWN);
    for (unsigned e = 0; r == 0 && e < source->catalog->n_events; e++)
        if (!catalog_event_for_each_cpu(source->catalog, e))
            source->support[e] = PLAN_ELSEWHERE;
    return r;
}

// Fills a source that has a scenario.
static int fill(struct source_sim *sim, const struct source_request *request, struct errors *errors) {
    struct source *source = &sim->source;
    int r = load_spec(sim, request, errors);
    if (r == 0)
        r = make_support(source);
    if (r < 0)
        return r;
    source->simulated = true;
    source->own_spec = sim->scenario->spec;
    source->pmu_name = "simulated";
    source->microarchitecture = source->catalog->product.microarchitecture;
    source->general_counters = sim->scenario->general_counters;
    source->smt_at_boot = sim->scenario->threads_per_core > 1;
    source->takes_counters = source->general_counters > 0;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "%s", source->catalog->product.vendor);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "%s", source->catalog->product.name);
    return 0;
}

static struct source_sim *add(const struct source_request *request, struct source *out[SOURCE_TYPES_MAX], size_t *n) {
    struct source_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return NULL;
    sim->source.driver = &DRIVER;
    sim->folder = "";
    sim->source.roots = (struct host_roots){
        .sysfs = request->options->paths.sysfs, .procfs = request->options->paths.procfs, .kept = host_files_new()};
    out[(*n)++] = &sim->source;
    return sim;
}

int source_sim_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                    size_t *n) {
    struct scenario *rest = NULL;
    int r = 0;
    do {
        struct source_sim *sim = add(request, out, n);
        if (!sim) {
            scenario_free(rest);
            return -ENOMEM;
        }
        r = find_scenario(sim, request, errors);
        if (r == 0 && !rest)
            r = scenario_json_load(sim->path, errors, &rest);
        if (r < 0)
            return r;
        sim->scenario = rest;
        rest = rest->next;
        sim->scenario->next = NULL;
        sim->source.several = rest || *n > 1;
        r = fill(sim, request, errors);
    } while (r == 0 && rest);
    scenario_free(rest);
    return r;
}
