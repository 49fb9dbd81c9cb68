// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_REPLAY_H
#define TOPDOWND_DAEMON_ENGINE_REPLAY_H

// Plays a tape instead of measuring: its readings go straight into derive, at the recorded or another speed. At the end
// the last snapshot stays.
//
// What boxes counted (core/uncore/uncore.h) is played by engines of their own, which the core type's leads: before it
// shows a moment, they have played what was before. So all show the same moment, at any speed.

#include "daemon/engine/engine.h"

// `self` provides clocks and the figures of the process, and `leader` is the core type's engine; NULL: this is it.
// Everything is borrowed, the leader until it is freed. Returns 0 or -ENOMEM.
int replay_new(const struct setup *setup, struct core_type *type, struct self *self, struct engine *leader,
               struct engine **out);

// True at the end: no further step makes a snapshot.
bool replay_is_over(const struct engine *engine);

#endif
