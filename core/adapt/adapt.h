// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_ADAPT_H
#define TOPDOWND_CORE_ADAPT_ADAPT_H

// The adaptive schedule: gives a larger share of the round to the selected metric groups that the methodology's
// decision tree points to.
//
// After each round core/diagnosis says which nodes of the tree stay high on the host. The selected groups that such a
// node leads to (by name, or by a metric of theirs) are raised: the next plan gives their event groups more slots
// (core/plan/plan.h says how many, and what the other groups keep). When the node is no longer high, they return to
// their usual slots. Groups of the level-1 categories are never raised: they already have their third.
//
// The schedule is slow on purpose. A change of plan reopens all event groups, and windows before and after it differ in
// length. So only nodes that stay high for some rounds count, and there is at most one change a minute.
//
// No clock and no I/O: snapshots carry the time. The caller makes the plans.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diagnosis/diagnosis.h"
#include "core/plan/plan.h"
#include "core/spec/catalog.h"
#include "core/tally/snapshot.h"

enum {
    ADAPT_DECISIONS_MAX = 16, // kept in the report
    ADAPT_TEXT_MAX = 240
};
// Minimum time between two changes of plan. A change interrupts measurement for some hundred milliseconds, so for at
// most 1 % of this.
#define ADAPT_CHANGE_NS UINT64_C(60000000000)
// The cause is the level-1 category at or above the node; CATEGORY_N: there is none.
enum { ADAPT_CAUSES_N = CATEGORY_N + 1 };

struct adapt_group {
    unsigned group;  // of the catalog
    bool raised;     // a node is high; what the plan makes of it: adapt_gains
    unsigned metric; // if raised: the node that raised it, its exported value then (NaN: unknown), and the time
    double value, since_seconds; // since the epoch, NaN: unknown
};

// One metric group got more slots or returned to its usual ones.
struct adapt_decision {
    unsigned group, metric; // of the catalog: the group, and the node that caused it
    bool raised;
    double value, at_seconds; // likewise
};

struct adapt_report {
    struct adapt_group *groups; // in order of selection
    size_t n_groups;
    struct adapt_decision decisions[ADAPT_DECISIONS_MAX]; // the last ones, newest last
    size_t n_decisions;
    size_t n_new; // number of these made by the last change
    struct adapt_cause_count {
        double high, fell; // decisions so far
    } causes[ADAPT_CAUSES_N];
};

struct adapt; // private

// Creates the schedule for these metric groups of the catalog, none raised. The catalog is borrowed. Returns 0 or
// -ENOMEM.
int adapt_new(const struct catalog *catalog, const struct plan_selection *selections, size_t n, struct adapt **out);
struct adapt *adapt_free(struct adapt *adapt);

// Takes over what `old` has decided and counted, from other selections or another version of the spec, by the names of
// metric groups and metrics. Called once, on a new one.
void adapt_continue(struct adapt *adapt, const struct adapt *old);

// Goes on from counts of earlier decisions, where nothing else is left of them.
void adapt_count_on(struct adapt *adapt, const struct adapt_cause_count counts[ADAPT_CAUSES_N]);

// Takes a round's diagnosis, and its snapshot for the time. True if adapt_raised has just changed, so that a new plan
// is due.
bool adapt_round(struct adapt *adapt, const struct diagnosis *diagnosis, const struct snapshot *snapshot);

// For the `raised` of a plan_request with the selections of adapt_new, and with `adaptive`.
const bool *adapt_raised(const struct adapt *adapt);

const struct adapt_report *adapt_report(const struct adapt *adapt);

// A copy for adapt_report_free; NULL if out of memory.
struct adapt_report *adapt_report_copy(const struct adapt_report *report);
struct adapt_report *adapt_report_free(struct adapt_report *report); // returns NULL, takes NULL

// The cause's name, such as "backend_bound" or "other"; and whether the catalog can have it.
const char *adapt_cause_name(size_t cause);
bool adapt_cause_exists(const struct catalog *catalog, size_t cause);

// Writes a decision as a sentence without its full stop; cut at size - 1.
void adapt_decision_text(const struct catalog *catalog, const struct adapt_decision *decision, char *out, size_t size);

// The share of the plan's round in which event groups with metrics of this metric group count, and that share while
// nothing is raised. Event groups that metric groups share count for each of them. 1 if every slot measures it.
struct adapt_share {
    double now, baseline;
};
struct adapt_share adapt_share(const struct plan *plan, unsigned group);

// True if the metric group gets more of the round than while nothing is raised. A raised one gets none if every slot
// measures it, or if all others are raised, too.
bool adapt_gains(const struct plan *plan, unsigned group);

#endif
