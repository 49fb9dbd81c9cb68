// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_COLLECTOR_H
#define TOPDOWND_DAEMON_ENGINE_COLLECTOR_H

// Holds the PMU of one core type: either a sampler runs a plan, or a probe looks for counters, or neither. What they
// leave open waits for the next sampler, or is closed step by step. Each step's cost is added to the daemon's own.

#include "collectors/pmu/sampler.h"
#include "core/tally/snapshot.h"
#include "daemon/base/self.h"
#include "daemon/source/source.h"

struct collector;

// Everything is borrowed.
struct collector_request {
    struct source *source;
    struct self *self;
    uint64_t interval_ns;   // as of a sampler_request
    uint64_t seed;          // of the schedule
    uint64_t told_pause_ns; // likewise
    uint64_t now_ns;
};

// Opens the PMU. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM or another negative errno.
int collector_new(const struct collector_request *request, struct errors *errors, struct collector **out);
struct collector *collector_free(struct collector *collector); // closes what is open

// From the next plan on: another source that is the same (daemon/source/source_continue.h), and another interval.
void collector_change(struct collector *collector, struct source *source, uint64_t interval_ns);

struct pmu *collector_pmu(const struct collector *collector);

// ---- a plan ----

// Runs the layout's plan on its CPUs. Event groups that the last sampler had as well are not opened again. Returns 0
// or -ENOMEM.
int collector_start(struct collector *collector, struct snapshot_layout *layout);
// Does what is due, as sampler_step: true if readings are over.
bool collector_step(struct collector *collector, uint64_t now_ns, uint64_t *deadline_ns);
// Releases all counters at once; the event groups stay open for the next sampler.
void collector_stop(struct collector *collector);

const struct sampler *collector_sampler(const struct collector *collector); // NULL: no plan runs

// ---- looking for counters ----

// Stops the sampler and starts a probe on these CPUs, which are borrowed. Returns 0 or a negative errno.
int collector_probe(struct collector *collector, const struct topology *topology);
// Does what is due. True if the probe is over: *counters is its answer, or a negative errno.
bool collector_step_probe(struct collector *collector, uint64_t now_ns, uint64_t *deadline_ns, int *counters);
bool collector_is_probing(const struct collector *collector);

// ---- letting go ----

// Releases all counters at once, and closes everything step by step.
void collector_let_go(struct collector *collector);

// Closes a piece of what nobody needs any more. While some is left, no plan and no probe goes on: two of them never
// hold files and memory side by side.
void collector_step_closer(struct collector *collector, uint64_t now_ns);
bool collector_is_closing(const struct collector *collector);

#endif
