// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_TRIALS_H
#define TOPDOWND_DAEMON_ENGINE_TRIALS_H

// Trials of event groups that starve: core/adapt/starve.h decides, collectors/pmu/trial.h runs them. A trial uses the
// idle slots of one core, another one each time; where these are shorter than a trial, the slots of the starving
// groups, which count nothing then either. A trial that finds no such time within a minute ends without an answer.

#include "collectors/pmu/sampler.h"
#include "daemon/base/self.h"
#include "daemon/engine/stage.h"

struct trials;

int trials_new(const struct catalog *catalog, struct trials **out); // 0 or -ENOMEM
struct trials *trials_free(struct trials *trials);

// All take NULL for a core type without trials.

// enum plan_finding by catalog metric; NULL: none.
const uint8_t *trials_findings(const struct trials *trials);
void trials_stop(struct trials *trials);   // closes what a trial has open
void trials_forget(struct trials *trials); // the number of counters has changed

// True, once, if the findings have changed and another plan is needed.
bool trials_changed(struct trials *trials);

// The measuring that a trial serves; borrowed for a call.
struct trials_host {
    struct pmu *pmu;
    struct self *self;
    const struct snapshot_layout *layout; // of the current plan
    const struct sampler *sampler;        // that runs it
};

// Begins a trial if one is due. `request` is that of the current plan. Returns 0, or -ENOMEM.
int trials_begin(struct trials *trials, const struct trials_host *host, const struct stage_request *request,
                 uint64_t now_ns);

// Before and after a step of the sampler: ends an event group whose time is over, and begins the next if the core is
// quiet; lowers *deadline_ns to the end of what runs.
void trials_end_group(struct trials *trials, const struct trials_host *host, uint64_t now_ns);
void trials_step(struct trials *trials, const struct trials_host *host, uint64_t now_ns, uint64_t *deadline_ns);

#endif
