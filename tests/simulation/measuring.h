// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_MEASURING_H
#define TOPDOWND_TESTS_SIMULATION_MEASURING_H

// The daemon's own measuring (daemon/engine/measure.h) on a simulated host, in virtual time: configuration, source and
// set-up are the daemon's; the PMU is behind a recorder of calls, and the clocks are the test's.

#include "daemon/engine/measure_plan.h"
#include "tests/simulation/pipeline.h"

struct measuring {
    struct options options;
    char folder[64], config[96]; // where the configuration is
    struct setup setup;
    struct errors errors;
    struct self self;
    struct clocks clocks;
    struct source_driver driver; // the simulated host's, but for what the test changes
    const struct source_driver *inner;
    struct recorder recorder;
    struct engine *engine;

    uint64_t now_ns, deadline_ns;
    struct snapshot *snapshot; // the newest; NULL: there is none yet
    size_t n_snapshots;
    size_t n_plans;  // so far, by the view
    size_t n_probes; // begun after the first

    // what the test says of its host
    uint64_t step_cost_ns;     // CPU time that each step of the sampler takes
    uint64_t cpu_ns;           // so far
    int pmu_error;             // instead of a PMU
    struct topology *arriving; // what the next look for CPUs finds; NULL: nothing new
    int looking_error;         // of that look
    bool watchdog_on;          // as the kernel says
    size_t n_looks;

    FILE *log; // all that was logged, since measuring_forget
    char *logged;
    size_t logged_size;
    struct view *view; // the last one that was seen
};

// Reads the configuration (YAML) and the scenario. The test may then change the scenario, and what it says of its host.
void measuring_load(struct measuring *m, const char *scenario, const char *yaml);
struct scenario *measuring_scenario(struct measuring *m);
struct scenario_rival *measuring_add_rival(struct measuring *m, enum scenario_rival_kind kind, unsigned counters,
                                           const char *cpus, double from_seconds, double until_seconds);

// Begins to measure at EPOCH_NS; measuring_new also where that may fail.
int measuring_new(struct measuring *m);
void measuring_start(struct measuring *m);
void measuring_stop(struct measuring *m); // checks that nothing has stayed open

// One step at the deadline, or so much later. Checks that what the state says is so, and returns measure_step's answer.
int measuring_step_late(struct measuring *m, uint64_t late_ns);
void measuring_step(struct measuring *m);
// Steps until so many seconds after EPOCH_NS.
void measuring_run_until(struct measuring *m, double seconds);
// Steps until a state is there, at most a minute.
void measuring_reach(struct measuring *m, enum measure_state state);

// At the present time, between two steps; as the event loop, which then steps at once.
int measuring_yield(struct measuring *m, double seconds);

enum measure_state measuring_state(const struct measuring *m);
double measuring_seconds(const struct measuring *m); // since EPOCH_NS

// How often a text was logged since measuring_forget.
size_t measuring_said(struct measuring *m, const char *text);
void measuring_forget(struct measuring *m);

// How many event groups hold counters, or may: open and not stopped.
size_t measuring_held(const struct measuring *m);

const struct plan *measuring_plan(const struct measuring *m);

#endif
