// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

#include "config/vendor/perf_json.h"
#include "tests/build/vendor.h"

// A host of any spec: its scenario is made up from the catalog. Rates are multiples of RATE_UNIT, so that every slot of
// some milliseconds counts whole numbers.

static bool is_same_code(const struct pmu_event *a, const struct pmu_event *b) {
    return a->pmu == b->pmu && a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
           a->exclude == b->exclude;
}

enum { RATE_UNIT = 1000, FIELD_PARTS = 255, FIELDS_LEVEL1 = 4 };

// Fixed counters hold what happens most: clock cycles and instructions.
static double any_rate(const struct catalog *catalog, unsigned event, const double *rates, uint64_t *random) {
    for (unsigned e = CATALOG_CPU_SECONDS + 1; e < event; e++)
        if (is_same_code(&catalog->events[e].code, &catalog->events[event].code))
            return rates[e];
    uint64_t units =
        catalog->events[event].fixed ? 2000000 + random_below(random, 2000000) : 10000 + random_below(random, 1000000);
    return (double)(units * RATE_UNIT);
}

// The leader counts pipeline slots; the first four fields share them out, and each of the others is a part of the field
// four before it.
static void topdown_rates(const struct catalog *catalog, double *rates, uint64_t *random) {
    uint64_t parts[CATALOG_TOPDOWN_MAX], left = FIELD_PARTS;
    double part = (double)(RATE_UNIT * (40000 + random_below(random, 20000)));
    size_t n = 0;
    if (catalog->n_topdown == 0)
        return;
    rates[catalog->topdown[0]] = FIELD_PARTS * part;
    for (size_t i = 1; i < catalog->n_topdown; i++) {
        if (!catalog->events[catalog->topdown[i]].need.free)
            continue;
        parts[n] = n >= FIELDS_LEVEL1       ? 1 + random_below(random, parts[n - FIELDS_LEVEL1])
                   : n + 1 == FIELDS_LEVEL1 ? left
                                            : 20 + random_below(random, 60);
        left -= n < FIELDS_LEVEL1 ? parts[n] : 0;
        rates[catalog->topdown[i]] = (double)parts[n++] * part;
    }
}

static struct scenario_load any_load(const struct catalog *catalog, uint64_t seed) {
    struct scenario_load load = {.name = strdup("any"), .period_seconds = 10, .n_keyframes = 1};
    double *values = calloc(catalog->n_events, sizeof *values);
    load.keyframes = calloc(1, sizeof *load.keyframes);
    struct scenario_rate *rates = calloc(catalog->n_events, sizeof *rates);
    assert_true(load.name && values && load.keyframes && rates);
    for (unsigned e = CATALOG_CPU_SECONDS + 1; e < catalog->n_events; e++)
        values[e] = any_rate(catalog, e, values, &seed);
    topdown_rates(catalog, values, &seed);
    size_t n = 0;
    for (unsigned e = CATALOG_CPU_SECONDS + 1; e < catalog->n_events; e++)
        if (catalog->events[e].kind == EVENT_COUNTED)
            rates[n++] = (struct scenario_rate){.event = strdup(catalog->events[e].name), .per_second = values[e]};
    load.keyframes[0] = (struct scenario_keyframe){.rates = rates, .n_rates = n};
    free(values);
    return load;
}

static struct scenario *any_scenario(const struct catalog *catalog, uint64_t seed) {
    struct scenario *scenario = calloc(1, sizeof *scenario);
    assert_non_null(scenario);
    *scenario = (struct scenario){.name = strdup("any"),
                                  .spec = strdup(catalog->product.spec),
                                  .sockets = 1,
                                  .cores_per_socket = 2,
                                  .threads_per_core = 2,
                                  .general_counters = catalog->general_counters,
                                  .loads = calloc(1, sizeof *scenario->loads),
                                  .n_loads = 1,
                                  .assignments = calloc(1, sizeof *scenario->assignments),
                                  .n_assignments = 1};
    assert_true(scenario->loads && scenario->assignments);
    scenario->loads[0] = any_load(catalog, seed);
    for (unsigned cpu = 0; cpu < scenario_n_cpus(scenario); cpu++)
        cpuset_add(&scenario->assignments[0].cpus, cpu);
    return scenario;
}

static void host_of_any_spec(struct environment *environment) {
    environment_init(environment);
    environment->facts.literals[LITERAL_HAS_PMEM] = 0;
    environment->facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
}

static void make_host(struct pipeline *p, uint64_t seed) {
    p->scenario = any_scenario(p->catalog, seed);
    assert_int_equal(pmu_sim_topology(p->scenario, NULL, &p->topology), 0);
    p->support = calloc(p->catalog->n_events, sizeof *p->support);
    assert_non_null(p->support);
}

void pipeline_load_spec(struct pipeline *p, const char *spec, uint64_t seed) {
    char path[256];
    struct environment environment;
    memset(p, 0, sizeof *p);
    host_of_any_spec(&environment);
    (void)snprintf(path, sizeof path, "specs/%s.json", spec);
    if (spec_json_load(path, &environment, &p->errors, &p->catalog) < 0)
        fail_msg("%s: %s", path, p->errors.items[0].text);
    make_host(p, seed);
}

void pipeline_load_vendor(struct pipeline *p, const char *tree, const char *cpuid, uint64_t seed) {
    struct environment environment;
    memset(p, 0, sizeof *p);
    host_of_any_spec(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 1; // as make_host's
    const struct perf_json_request request = {
        .path = tree, .cpuid = cpuid, .trees = "specs/perf/trees.json", .environment = &environment};
    if (vendor_load_perf(&request, &p->errors, &p->catalog) < 0)
        fail_msg("%s: %s", cpuid, p->errors.items[0].text);
    make_host(p, seed);
    for (size_t e = 0; e < p->catalog->n_events; e++)
        if (p->catalog->events[e].code.pmu != 0)
            p->support[e] = PLAN_ELSEWHERE; // other PMUs are not simulated
}
