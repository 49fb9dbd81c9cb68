// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_BIND_H
#define TOPDOWND_COLLECTORS_HOST_HOST_BIND_H

// Narrows a spec's events, what a CPU's PMU can count, to those that this host's PMUs can count: the kernel may be too
// old for an event, a virtual machine may hide some, and an event of another PMU may not count for each CPU.

#include "collectors/host/host_linux.h"
#include "core/plan/plan.h"
#include "core/spec/catalog_builder.h"

struct host_binding {
    uint8_t *support; // enum plan_support of each of the catalog's events
    // perf_event_attr.type of each of the catalog's PMUs; PLAN_ELSEWHERE events have none
    uint32_t types[CATALOG_PMUS_MAX];
    size_t n_cannot;      // events that the core PMU's format cannot express
    bool topdown_dropped; // the host lacks the PMU's topdown counters: level 1 does without them
};

// Encodes the events of a catalog that has its whole spec anew, in the formats that the kernel shows; where the kernel
// shows none, the spec's format stays. `pmu` and `type` are the kernel's core PMU for the catalog. -ENOMEM. Free with
// host_binding_deinit.
int host_bind(const struct host_roots *roots, const char *pmu, uint32_t type, struct catalog_builder *builder,
              struct host_binding *out);

// For a kernel that shows the PMU's topdown counters and refuses their leader: level 1 does without them. The builder
// and the binding are those of host_bind.
void host_bind_drop_topdown(struct catalog_builder *builder, struct host_binding *binding);
void host_binding_deinit(struct host_binding *binding);

#endif
