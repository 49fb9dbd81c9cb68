// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_PRIVATE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_PRIVATE_H

// An estimate: estimate.c makes it and takes rounds in, estimate_answer.c answers.

#include "core/estimate/estimate.h"
#include "core/estimate/estimate_means.h"
#include "core/estimate/estimate_shape.h"
#include "core/estimate/estimate_shared.h"
#include "core/estimate/estimate_spread.h"
#include "core/estimate/estimate_steps.h"
#include "core/estimate/estimate_strata.h"
#include "core/estimate/estimate_terms.h"
#include "core/estimate/estimate_unseen.h"

struct estimate {
    const struct plan *plan;
    struct rows *rows;
    struct scopes *scopes;
    double memory_rounds;
    double seconds; // of the round taken in
    bool exact;     // nothing rotates and nothing takes a counter: the counts are the truth, and what follows is NULL
    bool wants_cpus;
    uint64_t rounds_of_cpus; // since they are wanted
    struct estimate_rounds *rounds;
    struct estimate_dither *dither;
    struct estimate_shape *shape;
    struct estimate_means *means;
    struct estimate_sizes *sizes;
    struct estimate_strata *strata;
    struct estimate_shared *shared;
    struct estimate_cores *cores;
    struct estimate_steps *steps;
    struct estimate_terms *terms;
    struct operand_lanes *at; // a batch's means
    struct estimate_spreads *spreads;
};

#endif
