// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SHARED_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SHARED_H

// How far off a unit's counts are by the places of its windows in the round, told by an event that units share
// (core/counts/shared_events.h).
//
// A unit with one window in a round cannot tell within the round how much windows differ, and differences between
// rounds hold what the load did meanwhile, which is no error. But units whose event groups take turns count some event
// alike (instructions, cycles), each in windows of its own. How much their extrapolated counts of it differ in one
// round tells the variance of one of them, since the places of all are drawn at random, without replacement. For
// several cores it is that of their sums, so it knows what a Latin square balances.
//
// What that says of a unit's other counts follows from how they change with the event: their slope is that of
// differences between rounds, over all CPUs. A residual is the slope times the event's count, whose variance is that
// between units, and a rest that has nothing to do with the event, whose variance is that between rounds (a regression
// estimator's: Cochran, "Sampling Techniques", 3rd edition, chapter 7; Saerndal, Swensson and Wretman, "Model Assisted
// Survey Sampling", chapter 6). Where the event explains nothing, the slope is 0 and nothing changes.
//
// A CPU has few units that tell. So its variance is drawn to the mean of all CPUs, the more the less they differ from
// what chance makes of equal ones (Buehlmann's credibility: H. Buehlmann, "Experience rating and credibility", 1967).
//
// What all units miss alike is what cores do at once in idle pieces. The slots beside tell: what units count with the
// signs of the slots (struct cell_signs) has in common what cores do in step. Half of the squared differences of
// neighbouring slots is the variance of a slot, of which as many are hidden as are idle.

#include "core/estimate/estimate_batch.h"
#include "core/estimate/estimate_means.h"

struct estimate_shared; // private

// `rows` must outlive it. NULL if out of memory. With fewer than four CPUs, units share nothing.
struct estimate_shared *estimate_shared_new(const struct rows *rows, size_t n_cpus);
struct estimate_shared *estimate_shared_free(struct estimate_shared *shared);

// Takes in the fresh rounds of `cells`, of which `rounds` are; then, batch by batch, whose means have taken the round
// in, how units differ.
void estimate_shared_take_round(struct estimate_shared *shared, const struct estimate_rounds *rounds,
                                const struct cells *cells, double memory_rounds);
void estimate_shared_take_batch(struct estimate_shared *shared, const struct estimate_batch *batch,
                                const struct estimate_means *means);

// What a unit shares with others, of the batch taken in last.
struct estimate_in_common {
    size_t place;                    // of the event among the unit's values; 0: it shares none
    bool sloped;                     // there is a slope: else it explains nothing
    double weight;                   // of a squared difference of a CPU between two rounds in the slopes
    struct lanes within;             // the variance of the unit's count, if its windows covered nothing; NaN: unknown
    struct lanes degrees;            // of freedom of that
    struct lanes hidden[CELL_SIGNS]; // more of the variance, by idle pieces: on average 0 if cores are not in step
};
const struct estimate_in_common *estimate_shared_of(const struct estimate_shared *shared, size_t unit);

// How much a unit's value changes with its count of the event.
double estimate_shared_slope(const struct estimate_shared *shared, size_t unit, size_t place);

#endif
