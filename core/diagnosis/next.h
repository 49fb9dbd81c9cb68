// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_NEXT_H
#define TOPDOWND_CORE_DIAGNOSIS_NEXT_H

// Where the methodology leads from a metric that is high. There are three questions with an answer each:
//
// - next_named: what does the decision tree of the catalog name? For labels and documents, which say so of any host.
// - next_groups: what is worth a look on this host? For people: the metric groups that can be measured here.
// - next_leads: is this metric group to be measured more often while the node is high? For the adaptive schedule.

#include "core/plan/plan.h"

// What the tree names after a metric of the catalog, step by step: `i` from 0 on until it is NULL. Metric groups of
// which nothing can be measured are left out: by this plan, or with NULL by any, so that no plan changes the answer.
const struct catalog_step *next_named(const struct catalog *catalog, const struct plan *plan, unsigned metric,
                                      size_t i);

// Finds the metric groups that the decision tree leads to from a metric of the catalog: those that it names, and those
// of the metrics that it names and that are not selected (of all that it names, if it names no group). If the tree
// leads nowhere from here, the same of the nearest metric above; else the metric's own group. Groups of which nothing
// can be measured here are left out (core/plan/plan_possible.h), such as those of PMUs that count for a socket. Returns
// how many there are, at least 1 if the metric is measured and in a group; they are indexes into the catalog's groups,
// each once.
enum { NEXT_GROUPS_MAX = 16 };
size_t next_groups(const struct plan *plan, unsigned metric, unsigned groups[NEXT_GROUPS_MAX]);

// The metrics of a group for which next_groups leads to it from a metric; 0: the decision tree names the group itself.
enum { NEXT_METRICS_MAX = 64 };
size_t next_metrics_of(const struct plan *plan, unsigned metric, unsigned group, unsigned metrics[NEXT_METRICS_MAX]);

// The smallest metric group with the metric, as larger ones are collections; -1: it is in none.
int next_group_of(const struct catalog *catalog, unsigned metric);

// True if the node names the metric group, or a metric that the group has. The groups with level 1 are measured anyway:
// no node leads to them.
bool next_leads(const struct catalog *catalog, const struct catalog_node *node, unsigned group);

#endif
