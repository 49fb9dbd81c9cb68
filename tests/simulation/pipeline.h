// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_PIPELINE_H
#define TOPDOWND_TESTS_SIMULATION_PIPELINE_H

// The whole way from a simulated host to snapshots, in virtual time: scenario and spec from files, a plan, the sampler
// on a simulated PMU behind a recorder of calls, and derive.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu_sim.h"
#include "collectors/sampler.h"
#include "config/scenario_json.h"
#include "config/spec_json.h"
#include "core/derive.h"

#define SECOND_NS UINT64_C(1000000000)
#define EPOCH_NS UINT64_C(5000000000)

enum { GROUPS_MAX = 32, CALLS_MAX = 200000, HANDLES_MAX = 4096 };

enum call_kind { CALL_OPEN, CALL_ENABLE, CALL_DISABLE, CALL_READ, CALL_CLOSE };

struct call {
    enum call_kind kind;
    int handle;
    uint64_t at_ns;
};

// Passes everything on to `inner` and writes it down; refuses to open what test says.
struct recorder {
    struct pmu pmu; // first
    struct pmu *inner;
    uint64_t now_ns;
    struct call *calls; // the first CALLS_MAX
    size_t n_calls;
    unsigned cpu_of[HANDLES_MAX];
    bool open[HANDLES_MAX], enabled[HANDLES_MAX];
    uint64_t refused_config; // an event group that holds it cannot be opened; 0: none
};

struct pipeline {
    struct errors errors;
    struct catalog *catalog;
    struct scenario *scenario;
    struct topology *topology;
    struct plan *plan;
    struct snapshot_layout *layout;
    struct recorder recorder;
    struct sampler *sampler;
    struct derive *derive;
    struct snapshot *snapshot; // the newest, NULL before the first round
    uint64_t now_ns, deadline_ns;
};

// Loads the scenario and its spec. The test may then change p->scenario before pipeline_start.
void pipeline_load(struct pipeline *p, const char *scenario);

// Plans these metric groups (NULL ends the list; none: all of them) and gets ready.
void pipeline_start(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups);

// Runs until `rounds` more rounds have ended; each new snapshot is checked for totals that fell.
void pipeline_run(struct pipeline *p, unsigned rounds);

// One step at the deadline, `late_ns` later than it asks for. True where a round ended.
bool pipeline_step(struct pipeline *p, uint64_t late_ns);

void pipeline_stop(struct pipeline *p);

// The plan's metric with this export name.
size_t pipeline_metric(const struct pipeline *p, const char *export_name);
double pipeline_gauge(const struct pipeline *p, size_t scope, const char *export_name);

// What the metric truly was over a time, on the CPUs of a scope: its formula over the simulated host's true counts.
double pipeline_truth(const struct pipeline *p, size_t scope, size_t metric, uint64_t from_ns, uint64_t to_ns);
double pipeline_true_sum(const struct pipeline *p, size_t scope, const struct formula_sum *sum, uint64_t from_ns,
                         uint64_t to_ns);

double pipeline_uncovered(const struct pipeline *p, enum uncovered reason);
double pipeline_windows(const struct pipeline *p, enum window_result result); // of all event groups

// Adds a rival on all CPUs and returns it; its times are to be set.
struct scenario_rival *pipeline_add_rival(struct pipeline *p, enum scenario_rival_kind kind, unsigned counters);

void assert_near(double value, double truth, double relative, const char *what);

#endif
