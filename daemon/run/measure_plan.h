// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_MEASURE_PLAN_H
#define TOPDOWND_DAEMON_RUN_MEASURE_PLAN_H

// Measuring's own: its state, and how its plan follows what the host does. Nobody but daemon/run/measure*.c, and their
// tests, includes this.

#include "collectors/pmu/probe.h"
#include "collectors/pmu/sampler.h"
#include "core/adapt/adapt.h"
#include "daemon/run/measure.h"
#include "daemon/run/measure_table.h"
#include "daemon/run/record.h"
#include "daemon/run/stage.h"

struct measure {
    struct engine engine; // first
    const struct setup *setup;
    struct core_type *type;
    struct self *self;
    struct pmu *pmu;
    uint64_t seed;
    struct record *record; // NULL: nothing is recorded
    struct errors *errors; // of the first plan

    enum measure_state state;
    struct stage stage;        // of the present plan; not there while FINDING
    struct sampler *sampler;   // while MEASURING or LOOKING, else NULL
    struct probe *probe;       // while FINDING or PROBING, else NULL
    uint64_t yielded_until_ns; // while YIELDED
    uint64_t next_round;       // where a new sampler goes on
    struct follow follow;      // how many general counters there are
    bool none_free;            // others held all of them when they were last looked for
    double slot_factor;        // of the present plan, as the budget said
    struct adapt *adapt;       // NULL: the schedule is fixed
    bool adapt_due;            // it asks for another plan
    uint64_t cpus_ns;          // when CPUs were last looked for
    bool pmu_up;
};

// In front of what is logged.
const char *measure_prefix(const struct measure *m);

// Takes the present facts into the view, under the same plan.
void measure_refresh_view(struct measure *m);

int measure_start_sampler(struct measure *m);
void measure_stop_sampler(struct measure *m); // lets go of all counters

// Makes a plan for the present counters and goes on under it; on failure the old one stays. Returns 0, -EINVAL with the
// reason in `errors`, -ENOMEM.
int measure_change_plan(struct measure *m, struct errors *errors);

// Says once that others hold all counters, and once that they no longer do.
void measure_note_none_free(struct measure *m, bool none_free);

// What the host's changes ask for. Each returns 0, or a negative errno that ends the daemon: where no other plan can be
// made, the old one stays.
int measure_follow_bottleneck(struct measure *m);
int measure_follow_budget(struct measure *m);
int measure_follow_cpus(struct measure *m, struct topology *topology); // which it takes over
int measure_follow_counters(struct measure *m, int counters, uint64_t now_ns);

// Whether slots are to have another length, all types of cores the same one: true once.
bool measure_budget_changed(struct measure *m, uint64_t now_ns);
// Whether CPUs to measure have come online: 1 and their topology with all others, 0, or -ENOMEM. Looks every five
// seconds.
int measure_find_cpus(struct measure *m, uint64_t now_ns, struct topology **out);

#endif
