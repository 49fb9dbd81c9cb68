// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_SHOWN_H
#define TOPDOWND_EXPORTERS_VIEW_SHOWN_H

// The data that a host's pages show: a view and a snapshot, one pair for each core type. Facts about the host and the
// daemon are the same in all pairs; pages take them from the first.

#include "exporters/view/view_history.h"

enum { SHOWN_TYPES_MAX = 8 };

struct shown {
    const struct view_history *history; // of level 1; only on the page for people, else NULL
    size_t n;                           // at least 1
    struct shown_type {
        struct view *view;
        const struct snapshot *snapshot;
    } types[SHOWN_TYPES_MAX];
};

#endif
