// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_FOLLOW_H
#define TOPDOWND_CORE_ADAPT_FOLLOW_H

// When to look again how many general counters can be had, and what follows from the answer.
//
// Counters are looked for again when an event group had none on any CPU in a round, because somebody may have taken
// them (at most every ten seconds); and every minute while there are fewer than there were, to grow back. Pure: whoever
// uses it does the probing.

#include <stdbool.h>
#include <stdint.h>

#include "core/plan/plan.h"
#include "core/tally/readings.h"

struct follow {
    unsigned counters, most_counters; // now, and the most there have been; 0: events take none
    uint64_t probed_ns;               // when they were last looked for
    bool starving;                    // an event group had no counters on any CPU in the last round
};

// `stated`: what the spec says, to begin with.
void follow_init(struct follow *follow, unsigned stated);

void follow_round(struct follow *follow, const struct plan *plan, const struct readings *readings);

bool follow_should_probe(const struct follow *follow, uint64_t now_ns);

// Takes an answer: so many counters, 0: others hold all of them, or a negative errno. True where another number of
// counters can be had than before; none, or no answer, leaves all as it was.
bool follow_answer(struct follow *follow, int counters, uint64_t now_ns);

#endif
