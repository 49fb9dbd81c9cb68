// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_STARVE_H
#define TOPDOWND_CORE_ADAPT_STARVE_H

// What to do about event groups that starve on every CPU while others run and the probe still finds as many counters as
// the plan uses: the PMU or the kernel has a rule that the spec does not know, or another user holds a counter that
// these events need.
//
// A trial finds out (collectors/pmu/trial.h): it runs such an event group alone on one core, and then the events of
// each of its metrics. The trial takes time in which the core counts nothing anyway, so nothing that works stops for
// it.
// - The group itself ran: the cause was of the moment, and the plan stays.
// - A metric's events ran: the metric gets an event group of its own; level 1 may get its split.
// - They did not: the metric is not plannable, and says why.
// Metrics that did not run, and groups that starve all the same, are tried again, from ten seconds to an hour later
// (core/adapt/backoff.h). So are the event groups as they would be without any finding: if all of them run, metrics go
// back to where they were. Another number of counters makes all findings void.
//
// Pure: the caller makes the plan that starve_asked describes, runs its event groups, and reports which ran.

#include "core/adapt/follow.h"

struct starve;

int starve_new(const struct catalog *catalog, struct starve **out); // borrowed; 0 or -ENOMEM
struct starve *starve_free(struct starve *starve);

// True if a trial is due under this plan.
bool starve_is_due(const struct starve *starve, const struct follow *follow, const struct plan *plan, uint64_t now_ns);

// Begins a trial; `plan` is the current one. Returns the findings (enum plan_finding by catalog metric) with which to
// make its plan.
const uint8_t *starve_ask(struct starve *starve, const struct follow *follow, const struct plan *plan);

// True if the trial is about the metrics of this unit of its own plan.
bool starve_asks_unit(const struct starve *starve, const struct plan *trial, unsigned unit);

// What event groups did in the trial; unknown: the core was offline, or files or memory were short.
enum starve_answer { STARVE_UNKNOWN, STARVE_RAN, STARVE_DID_NOT_RUN };

// Takes the answers of the plan's starving groups and of those of the trial's plan, each by group. Returns true if the
// findings have changed, and another plan is needed.
bool starve_take(struct starve *starve, const struct follow *follow, const struct plan *plan,
                 const enum starve_answer *answers, const struct plan *trial, const enum starve_answer *trial_answers,
                 uint64_t now_ns);

// Forgets all findings: the number of counters has changed.
void starve_forget(struct starve *starve);

// enum plan_finding by catalog metric, for plan_request.findings.
const uint8_t *starve_findings(const struct starve *starve);

#endif
