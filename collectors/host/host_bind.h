// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_BIND_H
#define TOPDOWND_COLLECTORS_HOST_HOST_BIND_H

// From a spec, which says what a CPU's PMU can count, to what this host's PMUs can: a kernel may be too old for an
// event, a virtual machine may hide some, and an event of another PMU may not count for each CPU.

#include "collectors/host/host_linux.h"
#include "core/plan/plan.h"
#include "core/spec/catalog_builder.h"

struct host_binding {
    uint8_t *support; // enum plan_support of each of the catalog's events
    // perf_event_attr.type of each of the catalog's PMUs; only events that are not PLAN_ELSEWHERE have one
    uint32_t types[CATALOG_PMUS_MAX];
    size_t n_cannot;       // events that the core PMU's format cannot express
    bool resident_dropped; // the resident group cannot be had: level 1 goes without it
};

// `pmu` and `type` are the kernel's core PMU for the catalog, which has all that its spec says, and whose events are
// encoded anew in the formats that the kernel shows; where it shows none, the spec's stays. -ENOMEM. Free with
// host_binding_deinit.
int host_bind(const struct host_roots *roots, const char *pmu, uint32_t type, struct catalog_builder *builder,
              struct host_binding *out);
void host_binding_deinit(struct host_binding *binding);

#endif
