// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_SHOWN_H
#define TOPDOWND_EXPORTERS_VIEW_SHOWN_H

// The data that a host's pages show: a view and a snapshot, one pair for each core type, and one for each kind of PMU
// outside the cores. Facts about the host and the daemon are the same in all pairs; pages take them from the first.

#include "core/memory/host_memory.h"
#include "exporters/view/view.h"

// More than any host has of both: what lies here for each of them is a few pointers.
enum { SHOWN_TYPES_MAX = 64 };

struct shown {
    struct host_memory *memory; // what the kernel counts of memory; NULL: not known
    size_t n;                   // core types, at least 1
    size_t n_boxes;             // kinds of PMUs outside the cores, after them
    struct shown_type {
        struct view *view;
        const struct snapshot *snapshot;
    } types[SHOWN_TYPES_MAX];
};

static inline size_t shown_all(const struct shown *shown) { return shown->n + shown->n_boxes; }

// The first `n` pairs are filled in, core types first: tells both apart.
static inline void shown_count(struct shown *shown, size_t n) {
    shown->n = n;
    shown->n_boxes = 0;
    while (shown->n > 1 && shown->types[shown->n - 1].view->layout->topology->boxes) {
        shown->n--;
        shown->n_boxes++;
    }
}

#endif
