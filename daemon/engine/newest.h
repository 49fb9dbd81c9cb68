// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_NEWEST_H
#define TOPDOWND_DAEMON_ENGINE_NEWEST_H

// The newest snapshot of each engine, so that one can say in the log what another one's counters tell of it.

#include "exporters/view/shown.h"

struct newest {
    struct shown shown; // complete from the first engine on; without any, nothing is shown
    struct snapshot *held[SHOWN_TYPES_MAX];
};

// Takes references to what engine `i` has made.
void newest_put(struct newest *newest, size_t i, struct view *view, struct snapshot *snapshot);
void newest_deinit(struct newest *newest);

#endif
