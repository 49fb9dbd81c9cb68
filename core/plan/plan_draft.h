// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_PLAN_PLAN_DRAFT_H
#define TOPDOWND_CORE_PLAN_PLAN_DRAFT_H

// A plan in the making, between plan_select.c, which turns metrics into sets of events that stay together, and plan.c,
// which packs these into event groups.

#include "core/plan/plan.h"
#include "core/plan/plan_pack.h"

struct plan_item {
    struct plan_set set;
    unsigned weight; // 0: the default
    int unit;
    bool level1;
    bool raised; // a raised selection has a metric of it
    bool common; // every event group carries its events
};

struct plan_draft {
    const struct plan_request *request;
    const struct catalog *catalog;
    struct plan *plan;
    unsigned *event_of;                            // catalog event of each bit
    int *bit_of;                                   // bit of each catalog event, -1
    size_t n_events;                               // bits in use
    struct event_need needs[PLAN_PACK_EVENTS_MAX]; // of each bit, beside what every group may carry
    struct fit_pmu pmu;                            // what that leaves
    bool led;                                      // event groups are led by the PMU's topdown leader
    unsigned carried[CATALOG_TOPDOWN_MAX];         // by every group, that leader first
    size_t n_carried;
    struct plan_item *items; // one per plan metric, [0 .. n_items)
    size_t n_items;
    int *item_of;           // item of each plan metric, -1: none
    unsigned *selection_of; // which selection named the metric first
    int level1_item;        // -1
    bool *dependent;        // of each plan metric: its reason is another metric's
};

// Sets the plan's metrics and the items they belong to; what cannot be planned gets its reason. 0, -ENOMEM, -E2BIG.
int plan_draft_select(struct plan_draft *draft);

// Adds an event to a set; one that takes no PMU is left out.
int plan_draft_add(struct plan_draft *draft, struct plan_set *set, unsigned event);

// True where the set's events can be counted at once beside what every event group may carry.
bool plan_draft_fits(const struct plan_draft *draft, const struct plan_set *set);

static inline bool plan_set_has(const struct plan_set *set, size_t bit) {
    return set->words[bit / 64] >> (bit % 64) & 1;
}

#endif
