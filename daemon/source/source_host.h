// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_HOST_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_HOST_H

// The kernel's counters of this host: a source for each core type with a spec and a PMU, or one for the kernel's
// software events.

#include "daemon/source/source.h"

struct source_host {
    struct source source;                 // first
    const struct cpu_map *cpus;           // borrowed from the specs
    struct host_cores cores;              // the cores counted; row NULL: no spec for them
    char cpuid[HOST_CPUID_MAX];           // of an x86 CPU, else ""
    struct host_events events;            // events that formulas may ask for
    uint32_t pmu_types[CATALOG_PMUS_MAX]; // perf_event_attr.type of the catalog's PMUs, except those elsewhere
    char pmu_found[HOST_TEXT_MAX];
    bool kernel_events; // the spec's PMU is one of core/spec/kernel_pmu.h
};

int source_host_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                     size_t *n);

#endif
