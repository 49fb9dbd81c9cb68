// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_STRATA_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_STRATA_H

// How much metrics differ between two strata of the windows of cores that are held: those in which the core slept,
// which are longer than a slot, and those in which it was awake.
//
// Such a core has few windows of a unit in a minute, so they may all be of one stratum by chance. They are alike then
// and tell nothing of the other one, but other units' windows tell how much of it there was (estimate_unseen.h). If a
// unit has a share a of its counts from windows in which the core slept, and all units together have a share A, its
// ratio is off by (a - A) times the ratio's difference between the strata (the bias that poststratification removes:
// Cochran, sections 5A.9 and 6.10). The difference is that of all cores that are held, because one core has too few
// windows to tell it. Cores that are never held have one stratum only.
//
// A core may wake in a long window, and is found awake when the slot ends. So rounds in which a core was never found
// awake tell what sleep is like. Long windows of other rounds are of neither stratum: what they count more than sleep
// does in their time is of time awake (estimate_unseen.h).

#include "core/estimate/estimate_rounds.h"

struct estimate_strata; // private

// `rows` must outlive it. NULL if out of memory.
struct estimate_strata *estimate_strata_new(const struct rows *rows);
struct estimate_strata *estimate_strata_free(struct estimate_strata *strata);

// Takes in a round on every CPU.
void estimate_strata_take_round(struct estimate_strata *strata, const struct estimate_rounds *rounds,
                                double memory_rounds);

// How much the place-th value of a unit counts a second while cores that are held sleep; NaN: unknown.
double estimate_strata_rate_asleep(const struct estimate_strata *strata, size_t unit, size_t place);

// How much it counts while they are awake, for each second of windows in which they did not sleep; 0: unknown. That
// includes what they do at the end of long windows before they are found awake.
double estimate_strata_rate(const struct estimate_strata *strata, size_t unit, size_t place);

// The difference of a metric of the plan, in its formula's scale; 0: there is none, or none is known.
double estimate_strata_difference(const struct estimate_strata *strata, size_t metric);

#endif
