// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_DRAFT_H
#define TOPDOWND_CORE_PLAN_PLAN_DRAFT_H

// A plan in the making, between plan_select.h, which turns metrics into sets of events that stay together, and plan.c,
// which packs these into event groups.

#include "core/plan/plan.h"
#include "core/plan/plan_pack.h"

struct plan_item {
    struct plan_set set;
    unsigned weight; // 0: the default
    int unit;
    bool level1;
    bool raised; // a raised selection includes one of its metrics
    bool common; // every event group carries its events
    bool stands; // its events count all the time: they need no counter, or are those of boxes
    enum plan_finding finding;
};

struct plan_draft {
    const struct plan_request *request;
    const struct catalog *catalog;
    struct plan *plan;
    unsigned *event_of;                            // catalog event of each bit
    int *bit_of;                                   // bit of each catalog event; -1: none
    size_t n_events;                               // bits in use
    struct event_need needs[PLAN_PACK_EVENTS_MAX]; // of each bit, beside the events that every group may carry
    struct fit_pmu pmu;                            // what those leave
    bool led;                                      // the PMU's topdown leader leads every event group
    unsigned carried[CATALOG_TOPDOWN_MAX];         // by every group, the leader first
    size_t n_carried;
    struct plan_item *items; // one per plan metric, [0 .. n_items)
    size_t n_items;
    int *item_of;                        // item of each plan metric; -1: none
    unsigned *selection_of;              // the first selection with the metric; after these, the place in `fetched`
    unsigned first_fetched, end_fetched; // units of what is fetched
    int level1_item;                     // -1
    unsigned first_standing;             // from this unit on all count all the time
    bool *dependent;                     // by plan metric: its reason comes from another metric
};

// Adds an event to a set, unless it needs no PMU. 0, -E2BIG.
int plan_draft_add(struct plan_draft *draft, struct plan_set *set, unsigned event);

// True if the set's events can be counted at once beside those that every event group may carry. Otherwise `why` has
// the reason, with events of the catalog; NULL: nobody asks.
bool plan_draft_fits(const struct plan_draft *draft, const struct plan_set *set, struct fit_reason *why);

static inline bool plan_set_has(const struct plan_set *set, size_t bit) {
    return set->words[bit / 64] >> (bit % 64) & 1;
}

#endif
