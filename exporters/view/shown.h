// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_SHOWN_H
#define TOPDOWND_EXPORTERS_VIEW_SHOWN_H

// What the pages of a host show: its view and snapshot, or of a host with cores of several types those of each type.
// What belongs to the host and the daemon is the same in all of them, and is shown of the first.

#include "exporters/view/view.h"

enum { SHOWN_TYPES_MAX = 8 };

struct shown {
    size_t n; // at least 1
    struct shown_type {
        struct view *view;
        const struct snapshot *snapshot;
    } types[SHOWN_TYPES_MAX];
};

#endif
