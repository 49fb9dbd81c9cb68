// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_STEPS_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_STEPS_H

// Tells whether the cores of a scope are in step: whether they do the same at the same times.
//
// Only cores whose rounds end together are compared (a cohort: core/plan/schedule.h); rounds that end at other times
// hold another part of the load. Two signs tell:
//
// 1. The cores' sum differs more between two rounds than the cores do one by one.
// 2. The cores of a block run the same order from different places, so that together they see each group at all times
//    of the round. If they are in step, the sums of two blocks are alike, however much their cores differ. This also
//    shows what repeats so fast that rounds do not differ.

#include <stdbool.h>

#include "core/counts/cells.h"
#include "core/counts/scopes.h"

enum { ESTIMATE_COHORTS_MAX = 32 }; // cores of more are not compared

// Cores that run the same order; one metric at a time.
struct estimate_step_block {
    double difference, variance; // sums over its cores; 0 between uses
    size_t n_cores;              // in the scope at hand
};

struct estimate_steps {
    const struct topology *topology; // borrowed
    size_t entries;                  // cores of a whole block
    bool *leads;                     // [cpu]: the first one of its core
    size_t *block_of;                // [core]; n_cores: its rounds are not compared
    struct estimate_step_block *blocks;
    struct estimate_cohort {
        uint64_t end_ns;
        size_t n_cores, first_block, n_blocks;
        double shared; // of what every slot measures: how much of what cores do in step their contrasts share
    } cohorts[ESTIMATE_COHORTS_MAX];
    size_t n_cohorts;
};

// On average the first two are 0 if each core does what it does by itself.
struct estimate_in_step {
    double excess;   // of the variance of the cores' sum over the sum of their variances
    double alike;    // the part of the sum of their variances that blocks do not have
    double shared;   // the part of the sum of their variances that is of a change of all of a cohort: no error. On
                     // average 0 as well
    double balanced; // as alike, of what remains
    double whole;    // the share of the cores that are in whole blocks which were compared
};

// `plan` and `topology` must outlive it. NULL if out of memory.
struct estimate_steps *estimate_steps_new(const struct plan *plan, const struct topology *topology);
struct estimate_steps *estimate_steps_free(struct estimate_steps *steps);

// Takes in which cores' last rounds ended together.
void estimate_steps_take_round(struct estimate_steps *steps, const struct cells *cells);

// Begins a scope. Then, for each metric: estimate_steps_add for all of its cores, and estimate_steps_end.
void estimate_steps_begin(struct estimate_steps *steps, struct scope_cpus in);

// Adds a core's difference between two rounds, and half its square.
static inline void estimate_steps_add(struct estimate_steps *steps, size_t core, double difference, double variance) {
    struct estimate_step_block *block = &steps->blocks[steps->block_of[core]];
    block->difference += difference;
    block->variance += variance;
}

// How many times as much cores have in common as those of each cohort have by itself, if all are in step: of the scope
// at hand.
double estimate_steps_cohorts(const struct estimate_steps *steps);

// `within`: of what every slot measures, compared within the round.
struct estimate_in_step estimate_steps_end(struct estimate_steps *steps, bool within);

#endif
