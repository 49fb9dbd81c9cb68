// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_PMU_CHANNELS_H
#define TOPDOWND_COLLECTORS_PMU_CHANNELS_H

// A plan's event groups on every CPU: opens them at the pace of collectors/pmu/pace.h, starts, stops and reads them,
// and knows what that cost. The sampler decides when those that rotate count; those that count all the time are left to
// collectors/pmu/standing.h.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/pmu/closer.h"
#include "collectors/pmu/pmu.h"
#include "core/host/topology.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct channels;

// Everything is borrowed and must outlive them. NULL if out of memory.
struct channels *channels_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu);
struct channels *channels_free(struct channels *channels); // closes what is open

// Takes over from other channels of the same catalog and PMU the event groups that both have on the same CPU, started
// ones as such.
void channels_inherit(struct channels *channels, struct channels *from);

// Stops all event groups and leaves them to the closer.
void channels_release(struct channels *channels, struct closer *closer);

// Begins to try again what is not open: a group that failed to open a minute after that, one whose CPU went away now.
void channels_retry(struct channels *channels);

// Sets the time of what follows.
void channels_begin_step(struct channels *channels, uint64_t now_ns);

// Opens as many event groups as one step may. A group that has been started counts at once.
void channels_open(struct channels *channels);
bool channels_opening(const struct channels *channels); // some have not been tried yet

// Starts or stops an event group of the plan on a CPU of the topology. One that is not open is started once it is.
void channels_start(struct channels *channels, unsigned cpu, unsigned group);
void channels_stop(struct channels *channels, unsigned cpu, unsigned group);

// Adds what an event group has counted since its last reading to `readings`, and returns this window.
struct window *channels_read(struct channels *channels, unsigned cpu, unsigned group, struct readings *readings);

// When the group's next window began: at its last reading, or when it was first started.
uint64_t channels_since_ns(const struct channels *channels, unsigned cpu, unsigned group);

// Forgets what a stopped group has counted since its last reading: it belongs to no round.
void channels_rebase(struct channels *channels, unsigned cpu, unsigned group);

// The kernel took the group off its CPU, which only its window tells: the window fails, and the group is opened anew.
void channels_lose(struct channels *channels, unsigned cpu, unsigned group, struct window *window);

// Why an event group could not be started, stopped or read since the last call: a negative errno; 0: no failure.
int channels_take_error(struct channels *channels);

// Why event groups are not open: the errno of the first one (an offline CPU's -ENODEV only if there is no other), or 0
// if all are open. *n_failed is their number over all CPUs.
int channels_open_error(const struct channels *channels, size_t *n_failed);

// The cost so far, as in sampler.h.
uint64_t channels_calls(const struct channels *channels);
uint64_t channels_interrupts(const struct channels *channels);

#endif
