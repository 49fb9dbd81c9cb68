// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_MEMORY_RESCTRL_SUM_H
#define TOPDOWND_CORE_MEMORY_RESCTRL_SUM_H

// What several groups and places of resctrl counted together, such as those of a domain: totals that only grow, and
// what they were when the interval began.

#include "core/memory/resctrl_count.h"

struct resctrl_sum {
    struct host_memory_bytes bytes; // NaN: none of that kind
    double apart;                   // local bytes and others, of groups that tell them apart
    struct host_memory_bytes interval;
    bool known; // it had bytes when the interval began
    enum resctrl_gap gap;
};

void resctrl_sum_init(struct resctrl_sum *sum);
void resctrl_sum_begin(struct resctrl_sum *sum); // an interval

// Adds what a group grew by that has had a number. A gap: the first one stays.
void resctrl_sum_add(struct resctrl_sum *sum, const struct resctrl_growth *growth, bool told_apart);
void resctrl_sum_note(struct resctrl_sum *sum, enum resctrl_gap gap);

// What the totals were when the interval began, for rates; NaN: not known, as where there is a gap.
struct host_memory_bytes resctrl_sum_before(const struct resctrl_sum *sum);

#endif
