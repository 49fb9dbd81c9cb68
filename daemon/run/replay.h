// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_REPLAY_H
#define TOPDOWND_DAEMON_RUN_REPLAY_H

// Plays a tape in place of measuring (daemon/run/measure.h): its readings go straight into derive, at the pace in which
// they were taken, or another one. At the end the last snapshot stays.

#include "core/tally/snapshot.h"
#include "daemon/source/setup.h"
#include "exporters/view/view.h"

struct replay;

int replay_new(struct setup *setup, struct replay **out); // 0 or -ENOMEM
struct replay *replay_free(struct replay *replay);

// As measure_step, measure_snapshot and measure_view.
int replay_step(struct replay *replay, uint64_t *deadline_ns, struct snapshot **out);
struct snapshot *replay_snapshot(struct replay *replay);
struct view *replay_view(const struct replay *replay);

#endif
