// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_FOLLOW_H
#define TOPDOWND_CORE_ADAPT_FOLLOW_H

// Decides when to probe again for free general counters, and what follows from the answer.
//
// A probe is due while event groups have no counters on any CPU, because another user may have taken them; and while
// fewer are free than there were or than the spec says, to grow back. A probe stops all event groups and costs a
// round, so probes with the same answer get rarer, from ten seconds to an hour (core/adapt/backoff.h). A different
// answer, or other starving event groups than at the last probe, begin anew. Pure: the caller does the probing.

#include <stdbool.h>
#include <stdint.h>

#include "core/adapt/backoff.h"
#include "core/plan/plan.h"
#include "core/tally/readings.h"

enum { FOLLOW_GROUPS_MAX = PLAN_UNITS_MAX + CATALOG_SPLIT_MAX, FOLLOW_WORDS = (FOLLOW_GROUPS_MAX + 63) / 64 };

struct follow {
    unsigned counters, most_counters; // now, and the maximum so far; 0: events take none
    struct backoff probe;             // of the last probe
    bool starving;                    // event groups had no counters on any CPU in the last round
    uint64_t starving_groups;         // tells which ones; 0: none
    uint64_t probed_groups;           // at the last probe
    uint64_t starved_ns;              // end of the last round in which any starved
    // one bit for each event group, of the last round that had its windows: it was on no CPU's counters; on some CPU's
    uint64_t starved[FOLLOW_WORDS], ran[FOLLOW_WORDS];
    uint64_t round_starved[FOLLOW_WORDS], round_ran[FOLLOW_WORDS]; // the same on any CPU, of the round so far
};

// `stated`: the spec's number, to begin with.
void follow_init(struct follow *follow, unsigned stated);

// Takes the newest readings. What starves is judged when all cores have ended a round.
void follow_round(struct follow *follow, const struct readings *readings);

// Another plan has other event groups: none of them starves until a round says so.
void follow_plan_changed(struct follow *follow);

// True if the event group starves.
static inline bool follow_group_starves(const struct follow *follow, unsigned group) {
    return group < FOLLOW_GROUPS_MAX && (follow->starved[group / 64] >> (group % 64) & 1) != 0;
}

// True if any event group of the plan that rotates runs.
bool follow_some_run(const struct follow *follow, const struct plan *plan);

bool follow_should_probe(const struct follow *follow, uint64_t now_ns);

// Takes a probe's answer: the number of free counters (0: others hold all of them) or a negative errno. True if the
// number has changed; 0 or an errno changes nothing.
bool follow_answer(struct follow *follow, int counters, uint64_t now_ns);

#endif
