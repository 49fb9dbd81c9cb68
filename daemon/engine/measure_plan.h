// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_PLAN_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_PLAN_H

// The private state of measuring, and how its plan follows the host. Only daemon/engine/measure*.c and their tests
// include this.

#include "core/adapt/adapt.h"
#include "core/adapt/dead.h"
#include "core/adapt/evidence.h"
#include "core/tally/blind.h"
#include "daemon/engine/collector.h"
#include "daemon/engine/measure.h"
#include "daemon/engine/measure_table.h"
#include "daemon/engine/stage.h"
#include "daemon/engine/trials.h"
#include "daemon/engine/verdict_log.h"
#include "daemon/record/record.h"

struct yielded {
    uint64_t until_ns, shown_ns; // its end; time of its next snapshot
};

// When measuring last looked at what the host changes by itself.
struct looked {
    uint64_t cpus_ns;     // CPUs that came online or became isolated
    bool all_isolated;    // no CPU was left to measure then
    uint64_t watchdog_ns; // the NMI watchdog
};

// Counts of what a reload has ended, in case another one begins it again: counters do not fall.
struct ended {
    struct record_totals record;
    struct adapt_cause_count causes[ADAPT_CAUSES_N];
};

// What the budget makes of the pace. All engines share one budget; kinds of boxes have each a pace of their own.
struct measure_pace {
    double slot_factor; // of the current plan
    double cost;        // boxes: of reading them, in CPU seconds so far
    struct budget_boxes boxes;
};

struct measure {
    struct engine engine; // first
    const struct setup *setup;
    struct core_type *type;
    struct self *self;
    uint64_t seed;         // of the schedule
    struct record *record; // NULL: no recording
    struct errors *errors; // for the first plan

    enum measure_state state;
    struct stage stage;          // of the current plan; empty while FINDING
    struct collector *collector; // samples while MEASURING or LOOKING, probes while FINDING or PROBING
    struct yielded yielded;      // while YIELDED
    struct follow follow;        // the number of general counters
    struct trials *trials;       // of event groups that starve; NULL: events take no counters
    struct dead *dead;           // events that never count; NULL: events take no counters
    bool none_free;              // others held all of them at the last probe
    struct measure_pace pace;
    struct adapt *adapt;            // NULL: the schedule is fixed
    struct evidence *evidence;      // what the verdict asks for; NULL: nothing is fetched
    size_t n_refused;               // metrics for which there was no room, as the log was told
    struct due {                    // another plan, as
        bool dead, adapt, evidence; // one more event never counts; the bottleneck is another one; other metrics are
                                    // asked for
    } due;
    struct looked looked; // at what changes by itself
    struct ended ended;
    struct measure_next *next; // prepared by a reload (daemon/engine/measure_reload.h); NULL: nothing
    struct blind blind;
    struct verdict_log told;          // what the log was told
    const struct kept_verdicts *kept; // of an earlier process, until the first snapshot; NULL: none
    struct readers *readers;          // of the intervals of single CPUs; NULL: somebody always reads them
};

// What the plan of a stage is made from.
struct stage_request measure_request(const struct measure *m);

// By which factor a new plan's slots, or the interval between readings of boxes, are longer than configured.
double measure_slot_factor(const struct measure *m);

// Prefix of log lines.
const char *measure_prefix(const struct measure *m);

// Updates the view with the current facts, under the same plan.
void measure_refresh_view(struct measure *m);

// Makes a plan for the current counters and continues under it; on failure the old one stays. Returns 0, -EINVAL with
// the reason in `errors`, -ENOMEM.
int measure_change_plan(struct measure *m, struct errors *errors);

// Logs once that others hold all counters, and once that they no longer do.
void measure_note_none_free(struct measure *m, bool none_free);

// Each adapts to a change of the host. Returns 0, or a negative errno that ends the daemon. If no other plan can be
// made, the old one stays.
int measure_follow_bottleneck(struct measure *m);
int measure_follow_budget(struct measure *m);
int measure_follow_cpus(struct measure *m, struct topology *topology); // takes ownership
int measure_follow_counters(struct measure *m, int counters, uint64_t now_ns);
int measure_follow_trial(struct measure *m);
int measure_follow_dead(struct measure *m);

// True, once, if the length of slots, the same for all core types, must change.
bool measure_budget_changed(struct measure *m, uint64_t now_ns);
// Checks every minute whether the NMI watchdog was switched on or off, so that a probe must look what it holds.
bool measure_watchdog_changed(struct measure *m, uint64_t now_ns);
// Checks every five seconds whether CPUs to measure have come online, and whether some have become isolated or are no
// longer so. Returns 1 and a topology of all CPUs to measure, 0, or -ENOMEM.
int measure_find_cpus(struct measure *m, uint64_t now_ns, struct topology **out);

#endif
