// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_UNCORE_FIND_H
#define TOPDOWND_COLLECTORS_UNCORE_UNCORE_FIND_H

// Finds a host's boxes: the kernel's PMUs outside the cores, below /sys/bus/event_source/devices. Opens none.
//
// Each PMU says in its `cpumask` which CPUs read it: one for each box (core/uncore/uncore_place.h). A PMU without the
// file is one box, which the first online CPU reads: the kernel moves its events to the right one.

#include <stddef.h>

#include "collectors/host/host_linux.h"
#include "core/host/identify.h"
#include "core/uncore/uncore.h"

// A PMU of a kind that cannot be opened.
struct uncore_unusable {
    char pmu[UNCORE_NAME_MAX]; // the beginning of a longer name
    const char *reason;        // for people; a literal
};

// The boxes of a kind. Borrows the kind.
struct uncore_found {
    const struct uncore_kind *kind;   // of kinds of one name, the one that has boxes; if none has, the first
    struct uncore_boxes boxes;        // sorted as core/uncore/uncore.h says; none: the host lacks the PMU
    struct uncore_unusable *unusable; // owned; of all kinds of the name that were looked for
    size_t n_unusable;
};

struct uncore_host {
    struct uncore_found *found; // one for each name of the CPU's kinds, in their order
    size_t n;
};

// Finds the boxes of the kinds that a host with CPUs of these `n` specs may have. A PMU without a number for `type` or
// with an invalid `cpumask` is unusable and has no box. Without roots there is no host: no kind has boxes, and all
// specs of a name are found. -ENOMEM. Free with uncore_host_deinit.
int uncore_find(const struct host_roots *roots, const struct uncore_kinds *kinds, const char *const *specs, size_t n,
                struct uncore_host *out);
// Likewise of this host's CPUs, as their own registers name them, whatever is measured of them: a host may hide its
// cores' PMU, or have a vendor's files for them.
int uncore_find_here(const struct host_roots *roots, const struct cpu_map *cpus, const struct uncore_kinds *kinds,
                     struct uncore_host *out);
void uncore_host_deinit(struct uncore_host *host);

// Finds the boxes of all PMUs whose names match a shell pattern, whatever they are. -ENOMEM. Free with
// uncore_boxes_deinit.
int uncore_find_named(const struct host_roots *roots, const char *pattern, struct uncore_boxes *out);

// The PMU's file `identifier`; "" if there is none.
void uncore_find_identifier(const struct host_roots *roots, const char *pmu, char *out, size_t size);

// The bytes of one count of an event that the kernel names, from its files NAME.scale and NAME.unit. -ENOENT if the
// kernel states no unit, -EINVAL if they are no number or no unit of bytes.
int uncore_find_bytes(const struct host_roots *roots, const char *pmu, const char *event, double *out);

#endif
