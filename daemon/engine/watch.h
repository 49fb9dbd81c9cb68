// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_WATCH_H
#define TOPDOWND_DAEMON_ENGINE_WATCH_H

// Logs changes from round to round, once when a state begins and once when it ends. A steady state, good or bad, logs
// nothing.

#include "core/tally/snapshot.h"

struct watch; // private

// `prefix` (borrowed) begins every line. `now` is the state with which later rounds are compared. `before` (may be
// NULL) watched under another plan; its messages about rates are not repeated. NULL if out of memory. The layout is
// borrowed.
struct watch *watch_new(const struct snapshot_layout *layout, const char *prefix, const struct snapshot *now,
                        const struct watch *before);
struct watch *watch_free(struct watch *watch);

// Compares a new snapshot, and the sampler's error in its round (a negative errno or 0), with the known state.
void watch_round(struct watch *watch, const struct snapshot *snapshot, int round_error);

#endif
