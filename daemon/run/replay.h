// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_REPLAY_H
#define TOPDOWND_DAEMON_RUN_REPLAY_H

// Plays a tape in place of measuring: its readings go straight into derive, at the pace in which they were taken, or
// another one. At the end the last snapshot stays.

#include "daemon/run/engine.h"

// `self` is for its clocks and the figures of the process. All is borrowed. Returns 0 or -ENOMEM.
int replay_new(const struct setup *setup, struct core_type *type, struct self *self, struct engine **out);

#endif
