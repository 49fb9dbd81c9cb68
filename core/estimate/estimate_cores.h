// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_CORES_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_CORES_H

// Variance over the cores of a scope. SMT siblings have their slots at the same places, so what they say is one draw:
// differences are summed by core first.

#include <math.h>

#include "core/counts/scopes.h"

struct estimate_cores {
    const struct topology *topology; // borrowed
    double *difference;              // [core]: 0 in between
};

// `topology` must outlive it. NULL where memory is short.
struct estimate_cores *estimate_cores_new(const struct topology *topology);
struct estimate_cores *estimate_cores_free(struct estimate_cores *cores);

// Adds a CPU's difference between two rounds, scaled by the share of time that was not covered.
static inline void estimate_cores_add(struct estimate_cores *cores, size_t cpu, double difference, double covered) {
    cores->difference[cores->topology->cpus[cpu].core] += difference * sqrt(1 - covered);
}

// Half the squared sum of what was added on the CPUs `in`, which is forgotten then; in *squares the sum of each core's
// term squared.
double estimate_cores_take(struct estimate_cores *cores, struct scope_cpus in, double *squares);

#endif
