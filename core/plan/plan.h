// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_H
#define TOPDOWND_CORE_PLAN_PLAN_H

// From metric groups to event groups, and from event groups to a round.
//
// A metric's events stay in one event group, so that a ratio comes from one window. A metric that needs other metrics
// takes their values, so these are planned too. The level-1 categories are one unit. The planner packs events into as
// few event groups as the counters allow. Then each group gets its slots in the round, and one idle slot leaves the
// counters to others. A plan makes no system call and never changes once made.
//
// On a PMU with topdown counters of its own, their leader leads every event group, and each group carries the level-1
// events, cycles and instructions (catalog.topdown), which take no counter from other events. Metrics that need only
// these are measured in every slot, by the common unit, which has no event groups of its own.
//
// Metrics whose events need no counter (software events, the kernel's MSR events) are measured by a standing unit: its
// event group counts all the time, outside the rotation, and is read whenever a snapshot is made. It takes no slots
// from the others. If a plan has only such metrics, nothing rotates, and a round is the time between two snapshots.
// Whatever boxes count is measured so, in event groups that fit them (core/plan/plan_standing.h).
//
// An adaptive plan may have raised metric groups (core/adapt/adapt.h). Their event groups get PLAN_RAISE_MAX times
// their slots, or less if the round would exceed PLAN_GROWTH_MAX times its slots. So every other event group keeps its
// slots and at least half of its share of the round. Level 1 keeps its third of the time. If all event groups except
// level 1's are raised, none is: shares are relative.
//
// A plan may have metrics that nobody selected, fetched because the diagnosis asks for them (core/adapt/evidence.h).
// They come after everything else: the event groups of what is selected are those of a plan without them, and what is
// fetched has event groups of its own, with one slot's weight each (core/plan/plan_fetch.h).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/plan/fit.h"
#include "core/spec/catalog.h"

enum {
    PLAN_NAME_MAX = 64,
    PLAN_REASON_MAX = 320,
    PLAN_WEIGHT_MAX = 100,
    PLAN_UNITS_MAX = 256,
    PLAN_GROUP_EVENTS_MAX = 512,
    PLAN_RAISE_MAX = 4, // a raised metric group's event groups get at most this many times their slots
    PLAN_GROWTH_MAX = 2 // and a round has at most this many times its slots without raised groups
};

// Whether the PMU states that it can count an event.
enum plan_support {
    PLAN_SUPPORT_UNKNOWN, // it does not say: whether a count that stays 0 is true, core/counts/zeros.h judges
    PLAN_SUPPORTED,       // it does: a count that stays 0 means that the event never happens
    PLAN_UNSUPPORTED,
    PLAN_ELSEWHERE,    // its PMU does not count per CPU, or this host lacks it
    PLAN_NOT_RECORDED, // the replayed recording has no counts of it
    PLAN_SUPPORT_LAST = PLAN_NOT_RECORDED
};

// What topdownd found about a metric whose event group starved although the counters for it were there
// (core/adapt/starve.h).
enum plan_finding {
    PLAN_FINDING_NONE,
    PLAN_FINDING_APART, // its events run in an event group of their own
    PLAN_FINDING_SPLIT, // level 1 only: they run in the parts of the spec's split
    PLAN_FINDING_NEVER  // they did not run at all
};
enum { PLAN_NOT_PLANNABLE = -1, PLAN_COMBINED = -2 }; // instead of a unit

#define PLAN_INTERVAL_NS UINT64_C(2000000000) // between snapshots, unless configured

struct plan_request {
    const struct catalog *catalog; // borrowed, and must outlive the plan
    unsigned general_counters;     // available on this host; 0: no limit
    unsigned reserved_counters;    // of these, left to others; may be all of them
    const struct plan_selection {
        unsigned group;  // metric group of the catalog
        unsigned weight; // slots per round for its event groups; 0: the default
    } * selections;
    size_t n_selections;
    const bool *raised; // of each selection: its event groups get more slots; NULL: none
    const struct plan_fetched {
        unsigned metric, group; // of the catalog; the event group is named after the metric group
    } * fetched;                // measured beside the selections as far as there is room, the most important first
    size_t n_fetched;
    unsigned fetched_groups, fetched_events; // so many event groups, with so many events, may be added for these
    uint64_t slot_ns;
    uint64_t round_least_ns; // slots of a round, together, at least; 0: PLAN_ROUND_NS_MIN
    uint64_t interval_ns;    // between snapshots; 0: PLAN_INTERVAL_NS
    double idle;             // share of a round in which no counter is held, 0 to 0.9
    const uint8_t *support;  // enum plan_support of each of the catalog's events; NULL: all unknown
    const bool *dead;        // by catalog event: it runs and never counts (core/adapt/dead.h); NULL: none
    const uint8_t *findings; // enum plan_finding of each of the catalog's metrics; NULL: none
    bool nmi_watchdog;       // the watchdog holds the fixed counter that the spec names
    bool smt_at_boot;        // exclusive events leave half of the general counters
    bool adaptive;           // level 1 keeps its third of the time regardless of weights
    bool boxes;              // a kind of PMUs outside the cores: all events count all the time, in groups that fit
    bool apart; // for others' counts: all events count all the time, each metric's in an event group of its own
};

struct plan_metric {
    unsigned metric;              // of the catalog
    bool auxiliary;               // not selected: another metric needs its value
    bool fetched;                 // not selected: the diagnosis asks for it, or for a metric that needs its value
    int unit;                     // or PLAN_NOT_PLANNABLE, or PLAN_COMBINED: it needs only other metrics' values
    char reason[PLAN_REASON_MAX]; // why it is not plannable, else ""
};

// Events that the kernel schedules together.
struct plan_group {
    char name[PLAN_NAME_MAX]; // from the selected metric group of most of its metrics; unique
    unsigned *events;         // catalog indexes of all its events: those that every group carries, then the others,
                              // ascending
    size_t n_events;
    unsigned unit;
};

// A unit is scheduled and derived as one: an event group, or the parts of a composite in adjacent slots. Two kinds are
// not scheduled: every slot measures the common unit, and a standing unit counts all the time. A standing unit of boxes
// may have several groups, which count different events at once.
struct plan_unit {
    unsigned first_group, n_groups; // its own groups; more than one: composite; none: every group carries its events
    unsigned slots;                 // per round; 0: the common unit, or a standing one
    double baseline_share;          // of a round while no metric group is raised, over all its groups
    unsigned *events;               // those its metrics need, or every group carries, ascending
    size_t n_events;
    int reference; // composite: the catalog event in every part; else -1
};

struct plan {
    const struct catalog *catalog;
    struct plan_metric *metrics; // every selected metric once, in order of selection, then auxiliary and fetched ones
    size_t n_metrics;
    int *place;                // by catalog metric: its index in `metrics`, or that of the alternative that takes its
                               // place; -1: neither selected nor needed
    unsigned *evaluation;      // indexes into `metrics`, each metric after those it needs
    struct plan_group *groups; // those that rotate, then those of standing units
    size_t n_groups;
    struct plan_unit *units;
    size_t n_units;
    uint8_t *support;         // by catalog event
    struct event_need *needs; // likewise
    struct fit_pmu pmu;       // available counters and registers
    bool level1_selected;     // a level-1 category is among the metrics
    int level1_unit;          // the level-1 split's unit; -1: none
    int common_unit; // its events are counted in every slot; -1: none. It has an event group of its own only in plans
                     // of recordings from before groups were led (core/recording/recording_resident.h)
    unsigned general_counters, reserved_counters; // reserved ones are at most the general ones
    uint64_t slot_ns, idle_ns, round_ns;          // round_ns = all slots + idle_ns
    unsigned *round; // rotating unit of each entry of a round before shuffling; n_units is the idle slot
    size_t n_round;
    size_t n_windows;  // maximum for one CPU in a round, with one of each standing group
    unsigned added_up; // in others' counts, each CPU of the topology stands for so many; 0: one, or nobody knows
};

// By which CPU seconds are multiplied for formulas.
static inline double plan_cpus_each(const struct plan *plan) { return plan->added_up > 0 ? plan->added_up : 1; }

// How many metrics single CPUs have: the first ones. What follows them are bounds of actions that nobody selected,
// which are asked for of sockets and the host alone.
size_t plan_n_cpu_metrics(const struct plan *plan);

// Makes a plan. Without a selection or anything plannable, the plan has no units and its round is one idle second. If
// nothing rotates, its round is one idle slot of a snapshot interval. Returns 0, -ENOMEM, or -E2BIG if the catalog's
// limits are exceeded.
int plan_new(const struct plan_request *request, struct plan **out);
struct plan *plan_free(struct plan *plan);

static inline bool plan_metric_planned(const struct plan_metric *metric) { return metric->unit != PLAN_NOT_PLANNABLE; }

// The unit that every event group carries; -1: none.
static inline int plan_carried_unit(const struct plan *plan) {
    return plan->common_unit >= 0 && plan->units[plan->common_unit].n_groups == 0 ? plan->common_unit : -1;
}

// True for a unit whose event group counts all the time.
static inline bool plan_unit_stands(const struct plan *plan, unsigned unit) {
    return plan->units[unit].slots == 0 && plan->units[unit].n_groups > 0 && plan->common_unit != (int)unit;
}
static inline bool plan_group_stands(const struct plan *plan, unsigned group) {
    return plan_unit_stands(plan, plan->groups[group].unit);
}

// True for a field of PERF_METRICS.
static inline bool plan_is_field(const struct plan *plan, unsigned event) {
    return plan->catalog->events[event].topdown && plan->needs[event].free;
}

// True if the unit measures only what is fetched.
bool plan_unit_fetched(const struct plan *plan, unsigned unit);

// True if both count the same events.
bool plan_group_same(const struct plan_group *a, const struct plan_group *b);

// The number of event groups that rotate. They come first.
size_t plan_n_rotating(const struct plan *plan);

// Events of all event groups: as many are opened on each CPU.
size_t plan_n_opened(const struct plan *plan);

// Slots of all event groups in a round, without the idle slot.
unsigned plan_slots(const struct plan *plan);

// The share of a round in which nothing that rotates is counted; 0 if nothing rotates.
static inline double plan_idle_share(const struct plan *plan) {
    return plan_slots(plan) > 0 ? (double)plan->idle_ns / (double)plan->round_ns : 0;
}

// The share of the round in which the unit's events count; 1 for a standing unit.
double plan_share(const struct plan *plan, unsigned unit);

#endif
