// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_WATCH_H
#define TOPDOWND_DAEMON_RUN_WATCH_H

// Logs what changes from round to round, once when it begins and once when it ends; a steady state, good or bad, is
// silent.

#include "core/tally/snapshot.h"

struct watch; // private

// `prefix` (borrowed) is put in front of every line. `now` is the state that changes are told from; `before` (may be
// NULL) watched under another plan of the same catalog: what it has said of rates is not said again. NULL where memory
// is short. The layout is borrowed.
struct watch *watch_new(const struct snapshot_layout *layout, const char *prefix, const struct snapshot *now,
                        const struct watch *before);
struct watch *watch_free(struct watch *watch);

// Compares a new snapshot, and the sampler's trouble in its round (a negative errno or 0), with what was known.
void watch_round(struct watch *watch, const struct snapshot *snapshot, int round_error);

#endif
