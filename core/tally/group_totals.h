// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_GROUP_TOTALS_H
#define TOPDOWND_CORE_TALLY_GROUP_TOTALS_H

// Total results of each event group's windows on the whole host. The totals of earlier plans' event groups are kept: if
// a group returns, its totals continue.

#include "core/tally/snapshot.h"

struct group_total {
    double windows[WINDOW_RESULT_N]; // by result
    double enabled_seconds, running_seconds;
};

// An event group of an earlier plan.
struct group_past {
    char name[PLAN_NAME_MAX];
    struct group_total total;
};

struct group_totals {
    const struct plan *plan;    // borrowed
    struct group_total *totals; // [event group]
    struct group_past *past;
    size_t n_past;
};

// `plan` must outlive it. NULL if out of memory.
struct group_totals *group_totals_new(const struct plan *plan);
struct group_totals *group_totals_free(struct group_totals *totals);

// Takes over earlier groups' totals, by name; called once, on new totals. 0 or -ENOMEM, which leaves `totals`
// unchanged.
int group_totals_continue(struct group_totals *totals, const struct group_totals *old);

void group_totals_take(struct group_totals *totals, const struct window *window);
void group_totals_write(const struct group_totals *totals, struct snapshot *out);

#endif
