// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SAMPLER_H
#define TOPDOWND_COLLECTORS_SAMPLER_H

// Runs a plan on a PMU: every physical core goes through the round in an order of its own, its SMT siblings with it.
//
// At a slot edge the old event group's leader is disabled, then the new one's enabled, then the old group read: the
// other order costs the new group up to a tick of 4 ms. All event groups stay open. The sampler reads no clock: the
// caller passes the time and is told when to come again.

#include <stdint.h>

#include "collectors/pmu.h"
#include "core/plan.h"
#include "core/readings.h"
#include "core/topology.h"

struct sampler;

// Everything is borrowed and must outlive the sampler. Returns 0 or -ENOMEM.
int sampler_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu, uint64_t seed,
                struct sampler **out);

// Closes all event groups.
struct sampler *sampler_free(struct sampler *sampler);

// Does what is due at now_ns (the first call opens the event groups and begins the first round) and sets *deadline_ns
// to the next slot edge. Returns 1 where a round has just ended: its readings are there until the next call.
int sampler_step(struct sampler *sampler, uint64_t now_ns, uint64_t *deadline_ns);

const struct readings *sampler_readings(const struct sampler *sampler);

// Why event groups could not be opened (the first errno, 0: all are open), and how many of them, over all CPUs.
int sampler_open_error(const struct sampler *sampler, size_t *n_failed);

// Why an event group could not be started, stopped or read in the last finished round: a negative errno, 0: no trouble.
int sampler_round_error(const struct sampler *sampler);

#endif
