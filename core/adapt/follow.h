// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_FOLLOW_H
#define TOPDOWND_CORE_ADAPT_FOLLOW_H

// Decides when to probe again for free general counters, and what follows from the answer.
//
// A probe is due when an event group had no counters on any CPU in a round, because another user may have taken them
// (at most every ten seconds); and every minute while fewer are free than there were, to grow back. Pure: the caller
// does the probing.

#include <stdbool.h>
#include <stdint.h>

#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct follow {
    unsigned counters, most_counters; // now, and the maximum so far; 0: events take none
    uint64_t probed_ns;               // time of the last probe
    bool starving;                    // an event group had no counters on any CPU in the last round
};

// `stated`: the spec's number, to begin with.
void follow_init(struct follow *follow, unsigned stated);

void follow_round(struct follow *follow, const struct plan *plan, const struct readings *readings);

bool follow_should_probe(const struct follow *follow, uint64_t now_ns);

// Takes a probe's answer: the number of free counters (0: others hold all of them) or a negative errno. True if the
// number has changed; 0 or an errno changes nothing.
bool follow_answer(struct follow *follow, int counters, uint64_t now_ns);

#endif
