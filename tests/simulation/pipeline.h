// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_PIPELINE_H
#define TOPDOWND_TESTS_SIMULATION_PIPELINE_H

// The whole way from a simulated host to snapshots, in virtual time: scenario and spec from files, a plan, the sampler
// on a simulated PMU behind a recorder of calls, and derive. Either under one plan, or as in the daemon: probing for
// counters, and changing the plan when there are more or fewer.

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

#include "collectors/pmu/probe.h"
#include "collectors/pmu/sampler.h"
#include "collectors/sim/pmu_sim.h"
#include "config/scenario/scenario_json.h"
#include "config/spec/spec_json.h"
#include "core/adapt/adapt.h"
#include "core/adapt/follow.h"
#include "core/base/random.h"
#include "core/diagnosis/diagnosis.h"
#include "core/plan/schedule.h"
#include "core/tally/derive.h"

#define SECOND_NS UINT64_C(1000000000)
#define EPOCH_NS UINT64_C(5000000000)

enum { GROUPS_MAX = 128, CALLS_MAX = 200000, HANDLES_MAX = 4096, SEEN_MAX = GROUPS_MAX };

enum call_kind { CALL_OPEN, CALL_ENABLE, CALL_DISABLE, CALL_READ, CALL_CLOSE };

struct call {
    enum call_kind kind;
    int handle;
    uint64_t at_ns;
    size_t n_events; // of CALL_OPEN and CALL_CLOSE
};

// Passes everything on to `inner` and writes it down; refuses what the test says.
struct recorder {
    struct pmu pmu; // first
    struct pmu *inner;
    uint64_t now_ns;
    struct call *calls; // the first CALLS_MAX
    size_t n_calls;
    unsigned cpu_of[HANDLES_MAX];
    size_t n_events_of[HANDLES_MAX];
    bool open[HANDLES_MAX], enabled[HANDLES_MAX];
    size_t n_open;
    uint64_t refused_config; // an event group that holds it cannot be opened; 0: none
    uint64_t jumped_ns;      // how far the clock has jumped ahead of the host's time
    // Of all calls that can fail, counted from 1, those from fail_from on and before fail_until fail with fail_error.
    size_t n_fallible, fail_from, fail_until;
    int fail_error;
    unsigned failed_cpu; // of the last one
    // Of all reads, the counts of every one of so many are 2^32 short; 0: none are.
    size_t n_reads, short_every;
};

// Takes over `inner`. What the test has set in it stays.
void recorder_init(struct recorder *r, struct pmu *inner);

// The newest totals of an event group, by its name.
struct seen_group {
    char name[PLAN_NAME_MAX];
    double totals[WINDOW_RESULT_N + 2];
};

struct pipeline {
    struct errors errors;
    struct catalog *catalog;
    struct scenario *scenario;
    struct topology *topology;
    struct plan_selection selections[GROUPS_MAX];
    size_t n_selections;
    uint8_t *support;  // enum plan_support by catalog event, for the test to change before it starts
    bool nmi_watchdog; // what the plan is told
    uint64_t slot_ns, seed;
    bool raw;     // nothing is derived: there are readings, and no snapshots
    bool follows; // the counters that can be had
    struct follow follow;
    struct adapt *adapt;            // NULL: the schedule is fixed
    size_t n_plans;                 // so far
    const struct plan *plan;        // the layout's
    struct snapshot_layout *layout; // of the present plan
    struct recorder recorder;
    struct sampler *sampler;
    struct busy_clock *busy_clock; // NULL: cores that sleep are not told apart
    bool tells_busy;               // for how long CPUs were busy, as the simulated host knows it,
    uint64_t told_pause_ns;        // as seldom as this
    uint64_t next_round;           // where a new sampler goes on
    uint64_t interval_ns;          // between snapshots; 0: the default, but on hosts with few cores a whole round
    bool whole_rounds;             // the sampler's interval is 0
    struct derive *derive;
    struct diagnosis *diagnosis;
    struct snapshot *snapshot; // the newest, NULL before the first round
    uint64_t start_ns;         // of the first round
    uint64_t now_ns, deadline_ns;
    void (*on_round)(struct pipeline *p, void *context); // when a snapshot is there, and before the plan changes
    void *context;
    struct seen_group seen[SEEN_MAX];
    size_t n_seen;
};

// Loads the scenario and its spec. The test may then change p->scenario before pipeline_start.
void pipeline_load(struct pipeline *p, const char *scenario);

// The same of core type `type` of a host that has several.
void pipeline_load_type(struct pipeline *p, const char *scenario, size_t type);

// A host of this spec's CPU, with as many counters as the vendor says, on a steady load of plausible rates that depend
// on `seed` alone: every event happens, and every metric has a value. All counts of a tenth of a second are whole
// numbers, and the fields of PERF_METRICS are whole 255ths of their leader, so that nothing is lost to rounding.
void pipeline_load_spec(struct pipeline *p, const char *spec, uint64_t seed);

// The same from Linux's files for a CPU, as the vendor has them. Other PMUs than the core's are not there.
void pipeline_load_vendor(struct pipeline *p, const char *tree, const char *cpuid, uint64_t seed);

// Says that the event counts in any busy second, as a spec may. Before a start.
static inline void pipeline_must_count(const struct catalog *catalog, const char *event) {
    int index = catalog_find_event(catalog, event);
    assert_true(index >= 0);
    catalog->events[index].must_count = true;
}

// Plans these metric groups (NULL ends the list; none: all of them) and gets ready.
void pipeline_start(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups);

// The same, but finds the counters by probing, and follows them from then on.
void pipeline_start_following(struct pipeline *p, uint64_t slot_ns, uint64_t seed, const char *const *groups);

// From the next round on the schedule is adaptive. To be called after a start.
void pipeline_adapt(struct pipeline *p);

// Runs until `rounds` more rounds have ended; each new snapshot is checked for totals that fell.
void pipeline_run(struct pipeline *p, unsigned rounds);

// One step at the deadline, `late_ns` later than it asks for. True where a round ended.
bool pipeline_step(struct pipeline *p, uint64_t late_ns);

// Goes on under a plan for the same counters and what the test has changed: slot_ns, topology.
void pipeline_replan(struct pipeline *p);

// Runs until so many seconds after EPOCH_NS.
void pipeline_run_until(struct pipeline *p, double seconds);

// Hands all counters over for so long, at once.
void pipeline_yield(struct pipeline *p, double seconds);

// Ends what was started, and checks that nothing stays open; pipeline_stop frees what was loaded, too.
void pipeline_end(struct pipeline *p);
void pipeline_stop(struct pipeline *p);

// Looks for counters on this PMU until there is an answer; *now_ns moves on.
struct probe *pipeline_probe(const struct pipeline *p, struct pmu *pmu, uint64_t *now_ns);

// The plan's metric with this export name.
size_t pipeline_metric(const struct pipeline *p, const char *export_name);
double pipeline_gauge(const struct pipeline *p, size_t scope, const char *export_name);

// What the metric truly was over a time, on the CPUs of a scope: its formula over the simulated host's true counts, and
// over other metrics that come from these.
double pipeline_truth(const struct pipeline *p, size_t scope, size_t metric, uint64_t from_ns, uint64_t to_ns);
double pipeline_true_sum(const struct pipeline *p, size_t scope, const struct formula_sum *sum, uint64_t from_ns,
                         uint64_t to_ns);

double pipeline_uncovered(const struct pipeline *p, enum uncovered reason);

// In every scope, all CPU time since the first round began is covered or uncovered.
void assert_all_accounted(const struct pipeline *p, double relative);
double pipeline_windows(const struct pipeline *p, enum window_result result); // of all event groups

// Adds a rival on all CPUs and returns it; its times are to be set.
struct scenario_rival *pipeline_add_rival(struct pipeline *p, enum scenario_rival_kind kind, unsigned counters);

// Every metric that has a value in this scope's newest snapshot has the true one, and every plannable metric has a
// value.
void assert_gauges_true(const struct pipeline *p, size_t scope, double relative);

// No metric has a value there, all for this reason.
void assert_gauges_absent(const struct pipeline *p, size_t scope, enum absent reason);

// Totals of ratios are the truth for all the time since the first round began.
void assert_totals_true(const struct pipeline *p, size_t scope, double relative);

void assert_near(double value, double truth, double relative, const char *what);

#endif
