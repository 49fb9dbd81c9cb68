// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_ADAPT_H
#define TOPDOWND_CORE_ADAPT_ADAPT_H

// The adaptive schedule: which of the selected metric groups get more of the round, because the methodology's decision
// tree says to look at them now.
//
// After each round core/diagnosis says which nodes of the tree stay high on the host. The selected groups that such a
// node leads to (by name, or by a metric of theirs) are raised: the next plan gives their event groups more slots
// (core/plan/plan.h says how many, and what everybody else keeps). When the node has fallen they give them back. Groups
// of the level-1 categories are never raised: they have their third already.
//
// Slow on purpose. A change of plan opens all event groups anew and makes windows before and after it differ in
// length, so that it has to pay: only what stays high for some rounds counts, and there is at most one change a minute.
//
// No clock and no I/O: snapshots bring the time. Whoever uses it makes the plans.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diagnosis/diagnosis.h"
#include "core/plan/plan.h"
#include "core/spec/catalog.h"
#include "core/tally/snapshot.h"

enum {
    ADAPT_DECISIONS_MAX = 16, // that are remembered
    ADAPT_TEXT_MAX = 240
};
// Between two changes of plan. A change costs some hundred milliseconds of nothing measured, so no more than 1 % of it.
#define ADAPT_CHANGE_NS UINT64_C(60000000000)
// Why: the level-1 category that the node is, or is below of; CATEGORY_N: it is below none.
enum { ADAPT_CAUSES_N = CATEGORY_N + 1 };

struct adapt_group {
    unsigned group; // of the catalog
    bool raised;
    unsigned metric; // where raised: the node that did it, its value then as exported (NaN: unknown), and when
    double value, since_seconds; // since the epoch, NaN: unknown
};

// One metric group got more slots, or gave them back.
struct adapt_decision {
    unsigned group, metric; // of the catalog: which group, because of which node
    bool raised;
    double value, at_seconds; // likewise
};

struct adapt_report {
    struct adapt_group *groups; // in order of selection
    size_t n_groups;
    struct adapt_decision decisions[ADAPT_DECISIONS_MAX]; // the last ones, the newest last
    size_t n_decisions;
    size_t n_new; // how many of these came with the last change
    struct adapt_cause_count {
        double high, fell; // decisions so far
    } causes[ADAPT_CAUSES_N];
};

struct adapt; // private

// For these metric groups of the catalog. Nothing is raised. The catalog is borrowed.
// Returns 0 or -ENOMEM.
int adapt_new(const struct catalog *catalog, const struct plan_selection *selections, size_t n, struct adapt **out);
struct adapt *adapt_free(struct adapt *adapt);

// Takes what the diagnosis says of a round, and its snapshot for the time. True where adapt_raised has just changed, so
// that a new plan is due.
bool adapt_round(struct adapt *adapt, const struct diagnosis *diagnosis, const struct snapshot *snapshot);

// For the `raised` of a plan_request with the selections of adapt_new, and with `adaptive`.
const bool *adapt_raised(const struct adapt *adapt);

const struct adapt_report *adapt_report(const struct adapt *adapt);

// A copy for adapt_report_free; NULL where memory is short.
struct adapt_report *adapt_report_copy(const struct adapt_report *report);
struct adapt_report *adapt_report_free(struct adapt_report *report); // returns NULL, takes NULL

// The cause's word, "backend_bound" or "other", and whether the catalog can have it.
const char *adapt_cause_name(size_t cause);
bool adapt_cause_exists(const struct catalog *catalog, size_t cause);

// Writes a decision as a sentence without its full stop; cut at size - 1.
void adapt_decision_text(const struct catalog *catalog, const struct adapt_decision *decision, char *out, size_t size);

// The share of the plan's round in which event groups with metrics of this metric group count, and what it is while
// nothing is raised. Event groups that metric groups share count for each of them. 1 where every slot measures it.
struct adapt_share {
    double now, baseline;
};
struct adapt_share adapt_share(const struct plan *plan, unsigned group);

#endif
