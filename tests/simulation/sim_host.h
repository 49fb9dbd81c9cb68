// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_SIM_HOST_H
#define TOPDOWND_TESTS_SIMULATION_SIM_HOST_H

// A small simulated host for tests: cycles with a counter of their own and nine general events, on a steady load unless
// a test changes the scenario before host_start.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/sim/pmu_sim.h"
#include "core/spec/catalog_builder.h"
#include "tests/build/build.h"

enum {
    CYCLES = 1,
    G1,
    G2,
    G3,
    G4,
    G5,
    G6,
    G7,
    G8,
    G9,
    HOST_EVENTS
}; // indexes into the catalog; G1 is event 2 and so on
enum { HOST_RIVALS_MAX = 4 };

#define HOST_EPOCH_NS UINT64_C(1700000123456789)
#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define TICK (4 * MS)

struct host {
    struct catalog *catalog;
    struct scenario scenario;
    struct scenario_load load;
    struct scenario_keyframe keyframe;
    struct scenario_rate rates[HOST_EVENTS];
    struct scenario_assignment assignment;
    struct scenario_rival rivals[HOST_RIVALS_MAX];
    struct pmu *pmu;
    uint64_t now_ns; // since the epoch
};

struct reading {
    struct pmu_times times;
    uint64_t counts[HOST_EVENTS];
};

// How often a second an event happens on the steady load: cycles 3e9, Gn n * 1e8 + 7.
static inline uint64_t host_rate(unsigned event) {
    return event == CYCLES ? UINT64_C(3000000000) : (event - CYCLES) * UINT64_C(100000000) + 7;
}

static inline uint64_t host_config(unsigned event) { return 0x1000 + event; }

static inline void host_init(struct host *host, unsigned cpus, unsigned general_counters) {
    static char load_name[] = "steady", names[HOST_EVENTS][8];
    static const char *const fixed[] = {"CYCLES"};
    struct fault error;
    *host = (struct host){0};
    struct catalog_builder *builder = builder_for("pmu");
    for (unsigned event = CYCLES; event < HOST_EVENTS; event++) {
        (void)snprintf(names[event], sizeof names[event], event == CYCLES ? "CYCLES" : "G%u", event - CYCLES);
        assert_int_equal(catalog_builder_add_event(builder, names[event], "", host_config(event), &error), event);
        host->rates[event - CYCLES] = (struct scenario_rate){names[event], (double)host_rate(event)};
    }
    assert_int_equal(catalog_builder_set_counters(builder, general_counters, fixed, 1, &error), 0);
    host->catalog = catalog_builder_finish(builder);
    host->keyframe = (struct scenario_keyframe){.rates = host->rates, .n_rates = HOST_EVENTS - CYCLES};
    host->load = (struct scenario_load){load_name, 10, &host->keyframe, 1};
    for (unsigned cpu = 0; cpu < cpus; cpu++)
        cpuset_add(&host->assignment.cpus, cpu);
    host->scenario = (struct scenario){.sockets = 1,
                                       .cores_per_socket = cpus,
                                       .threads_per_core = 1,
                                       .general_counters = general_counters,
                                       .loads = &host->load,
                                       .n_loads = 1,
                                       .assignments = &host->assignment,
                                       .n_assignments = 1,
                                       .rivals = host->rivals};
}

// Adds a rival on CPU 0.
static inline struct scenario_rival *host_add_rival(struct host *host, enum scenario_rival_kind kind,
                                                    unsigned counters) {
    struct scenario_rival *rival = &host->rivals[host->scenario.n_rivals++];
    *rival = (struct scenario_rival){.kind = kind, .counters = counters};
    cpuset_add(&rival->cpus, 0);
    return rival;
}

static inline void host_start(struct host *host) {
    const char *event = NULL;
    assert_int_equal(pmu_sim_new(&host->scenario, host->catalog, HOST_EPOCH_NS, &event, &host->pmu), 0);
}

static inline void host_stop(struct host *host) {
    host->pmu->ops->free(host->pmu);
    catalog_free(host->catalog);
}

static inline void host_go_to(struct host *host, uint64_t now_ns) {
    host->now_ns = now_ns;
    host->pmu->ops->advance(host->pmu, HOST_EPOCH_NS + now_ns);
}

// Opens a group on a CPU by the catalog's event indexes, which end with 0.
static inline int host_open_on(struct host *host, unsigned cpu, const unsigned *events) {
    struct pmu_event wanted[2 * HOST_EVENTS];
    size_t n = 0;
    for (; events[n] != 0; n++)
        wanted[n] = (struct pmu_event){.config = host_config(events[n])};
    return host->pmu->ops->open(host->pmu, cpu, wanted, n);
}

#define host_open(host, ...) host_open_on(host, 0, (const unsigned[]){__VA_ARGS__, 0})

static inline void host_enable(struct host *host, int handle) {
    assert_int_equal(host->pmu->ops->enable(host->pmu, handle, true), 0);
}

static inline void host_disable(struct host *host, int handle) {
    assert_int_equal(host->pmu->ops->enable(host->pmu, handle, false), 0);
}

static inline struct reading host_read(struct host *host, int handle, size_t n) {
    struct reading reading = {0};
    assert_int_equal(host->pmu->ops->read(host->pmu, handle, &reading.times, reading.counts, n), 0);
    return reading;
}

static inline double host_share(struct host *host, int handle, size_t n) {
    struct reading reading = host_read(host, handle, n);
    return (double)reading.times.running_ns / (double)reading.times.enabled_ns;
}

#endif
