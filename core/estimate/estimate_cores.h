// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_CORES_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_CORES_H

// Variance over the cores of a scope. SMT siblings have their slots at the same places, so they are one random draw:
// differences are summed by core first.

#include <math.h>

#include "core/counts/scopes.h"

struct estimate_cores {
    const struct topology *topology; // borrowed
    double *difference;              // [core]: 0 between uses
};

// `topology` must outlive it. NULL if out of memory.
struct estimate_cores *estimate_cores_new(const struct topology *topology);
struct estimate_cores *estimate_cores_free(struct estimate_cores *cores);

// Adds a CPU's difference between two rounds, scaled by the uncovered share of time.
static inline void estimate_cores_add(struct estimate_cores *cores, size_t cpu, double difference, double covered) {
    cores->difference[cores->topology->cpus[cpu].core] += difference * sqrt(1 - covered);
}

// Returns half the sum of each core's squared difference over the CPUs `in`, and resets these; *squares is the sum of
// the squared terms.
double estimate_cores_take(struct estimate_cores *cores, struct scope_cpus in, double *squares);

#endif
