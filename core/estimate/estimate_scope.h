// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_SCOPE_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_SCOPE_H

// The inputs of one scope's estimates in a round.

#include "core/estimate/estimate_cores.h"
#include "core/estimate/estimate_rounds.h"

struct estimate_scope {
    size_t scope;
    struct scope_cpus in; // its CPUs
    const struct estimate_rounds *rounds;
    struct estimate_cores *cores; // for one sum at a time
    double memory_rounds;         // as of estimate_new
};

#endif
