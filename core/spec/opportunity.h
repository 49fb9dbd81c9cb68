// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_OPPORTUNITY_H
#define TOPDOWND_CORE_SPEC_OPPORTUNITY_H

// What could be done about a host's lost pipeline slots, and how many of them each action could win at most.
//
// A spec says so by a metric of the name opportunity_ACTION, a share of pipeline slots over the values of other metrics
// (docs/opportunities.md has the formulas, their sources and what each assumes). It is an upper bound: what the action
// concerns, as if all of that could be won. The slots of two actions may be the same ones, so bounds are never added. A
// plan that measures all that such a metric needs has the metric, too, at no cost (core/plan/plan_select.h).

#include <stdbool.h>

struct catalog_metric;

enum opportunity {
    OPPORTUNITY_TEXT_HUGE_PAGES,
    OPPORTUNITY_DATA_HUGE_PAGES,
    OPPORTUNITY_CODE_LAYOUT,
    OPPORTUNITY_BRANCH_LAYOUT,
    OPPORTUNITY_NUMA_PLACEMENT,
    OPPORTUNITY_PREFETCHERS,
    OPPORTUNITY_WORKING_SET,
    OPPORTUNITY_VECTORISE,
    OPPORTUNITY_LOCKS,
    OPPORTUNITY_SMT,
    OPPORTUNITY_N
};

// For people, all but the name, which is the label `action`.
struct opportunity_info {
    const char *name, *title;
    const char *means;      // which slots it concerns
    const char *remedy;     // what to do
    const char *experiment; // what only a trial can tell; NULL: counting tells enough to begin with
};
extern const struct opportunity_info opportunity_table[OPPORTUNITY_N];

// The action of which the metric is the bound; OPPORTUNITY_N: of none.
enum opportunity opportunity_of(const struct catalog_metric *metric);

#endif
