// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_H
#define TOPDOWND_CORE_PLAN_PLAN_H

// From metric groups to event groups, and from event groups to a round.
//
// A metric's events are never parted: they lie in one event group, so that a ratio comes from one window; what it takes
// from other metrics are their values, so that they are planned too. The level-1 categories are one unit. Event groups
// are packed to be as few as the counters allow. Then each gets its slots in the round, and one idle slot leaves the
// counters to others. A plan makes no system call and is only read once made.
//
// Where the PMU has topdown counters of its own, their leader leads every event group, and each group carries the
// level-1 events, cycles and instructions (catalog.topdown): they take no counter from other events. Metrics that
// count nothing else are measured in every slot, by a unit without event groups of its own, the common unit.
//
// An adaptive plan may have raised metric groups (core/adapt/adapt.h). Their event groups get PLAN_RAISE_MAX times
// their slots, or as many times less as keep the round within PLAN_GROWTH_MAX times its slots, so that every other
// event group keeps its slots and at least half of its share of the round. Level 1 keeps its third of the time. Where
// all event groups but level 1's are raised, none is: shares are relative.

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
    PLAN_RAISE_MAX = 4, // a raised metric group's event groups get at most so many times their slots
    PLAN_GROWTH_MAX = 2 // and a round at most so many times the slots that it has while none is raised
};

// Whether the PMU says that it can count an event.
enum plan_support {
    PLAN_SUPPORT_UNKNOWN, // it does not say: an event that never counts is not believed
    PLAN_SUPPORTED,       // an event that never counts really never happens
    PLAN_UNSUPPORTED,
    PLAN_ELSEWHERE,    // it belongs to a PMU that does not count for each CPU, or that this host lacks
    PLAN_NOT_RECORDED, // what is replayed has no counts of it
    PLAN_SUPPORT_LAST = PLAN_NOT_RECORDED
};
enum { PLAN_NOT_PLANNABLE = -1, PLAN_COMBINED = -2 }; // instead of a unit

struct plan_request {
    const struct catalog *catalog; // borrowed, and must outlive the plan
    unsigned general_counters;     // that can be had on this host; 0: no limit
    unsigned reserved_counters;    // of these, left to others; may be all of them
    const struct plan_selection {
        unsigned group;  // metric group of the catalog
        unsigned weight; // slots a round for its event groups; 0: the default
    } * selections;
    size_t n_selections;
    const bool *raised; // of each selection: its event groups get more slots; NULL: none
    uint64_t slot_ns;
    double idle;            // share of a round in which nothing is held, 0 to 0.9
    const uint8_t *support; // enum plan_support of each of the catalog's events; NULL: all unknown
    bool nmi_watchdog;      // holds the fixed counter that the spec says
    bool adaptive;          // level 1 keeps its third of the time whatever the weights are
    bool apart; // what others have counted: all events all the time, each metric's as an event group of its own
};

struct plan_metric {
    unsigned metric;              // of the catalog
    bool auxiliary;               // not selected: another one needs its value
    int unit;                     // or PLAN_NOT_PLANNABLE, or PLAN_COMBINED: all it needs are other metrics' values
    char reason[PLAN_REASON_MAX]; // why it is not plannable, else ""
};

// What the kernel puts on the counters together.
struct plan_group {
    char name[PLAN_NAME_MAX]; // after the selected metric group that most of its metrics come from; unique
    unsigned *events;         // of the catalog, all of them counted; ascending, behind those that every group carries
    size_t n_events;
    unsigned unit;
};

// What is scheduled as one and derived as one: an event group, or the parts of a composite in adjacent slots. Or the
// common unit, which every slot measures and which is not scheduled.
struct plan_unit {
    unsigned first_group, n_groups; // of its own; more than one: composite; none: every group carries its events
    unsigned slots;                 // times a round; 0: the common unit
    double baseline_share;          // of a round while no metric group is raised, all its groups
    unsigned *events;               // that its metrics need, or that every group carries, ascending
    size_t n_events;
    int reference; // composite: the catalog's event that is in every part; else -1
};

struct plan {
    const struct catalog *catalog;
    struct plan_metric *metrics; // every selected metric once, in order of selection, then the auxiliary ones
    size_t n_metrics;
    int *place;           // of each of the catalog's metrics in `metrics`; -1: neither selected nor needed
    unsigned *evaluation; // places in `metrics` in an order in which each comes after those it needs
    struct plan_group *groups;
    size_t n_groups;
    struct plan_unit *units;
    size_t n_units;
    uint8_t *support;         // of each of the catalog's events
    struct event_need *needs; // likewise
    struct fit_pmu pmu;       // what there is of what they need
    bool level1_selected;     // a level-1 category is among the metrics
    int level1_unit;          // -1: no level-1 split here
    int common_unit; // whose events are counted in every slot; -1: none. It has an event group of its own only in
                     // plans of recordings made before groups were led (core/recording/recording_resident.h)
    unsigned general_counters, reserved_counters; // the second are at most the first
    uint64_t slot_ns, idle_ns, round_ns;          // round_ns = all slots + idle_ns
    unsigned *round; // rotating unit of each entry of a round before it is shuffled; n_units stands for the idle slot
    size_t n_round;
    size_t n_windows; // at most, of one CPU in a round
};

// Makes a plan. No selection, or nothing plannable: a plan without units, whose round is one idle second. Returns 0,
// -ENOMEM, or -E2BIG where the catalog's limits are exceeded.
int plan_new(const struct plan_request *request, struct plan **out);
struct plan *plan_free(struct plan *plan);

// True where the events, of the catalog, can be on the plan's counters at once.
bool plan_fits(const struct plan *plan, const unsigned *events, size_t n);

static inline bool plan_metric_planned(const struct plan_metric *metric) { return metric->unit != PLAN_NOT_PLANNABLE; }

// The unit that every event group carries; -1: there is none.
static inline int plan_carried_unit(const struct plan *plan) {
    return plan->common_unit >= 0 && plan->units[plan->common_unit].n_groups == 0 ? plan->common_unit : -1;
}

// Slots of all event groups in a round, the idle one not counted.
unsigned plan_slots(const struct plan *plan);

// The share of the round in which the unit's events count.
double plan_share(const struct plan *plan, unsigned unit);

// How long entry `entry` of the round lasts.
uint64_t plan_entry_ns(const struct plan *plan, size_t entry);

// Writes the order in which a core runs the round's entries: order[i] is an index into plan->round. Depends on the
// arguments alone, so every schedule can be repeated; cores and rounds are independent streams.
void plan_order(const struct plan *plan, uint64_t seed, unsigned core, uint64_t round, unsigned *order);

#endif
