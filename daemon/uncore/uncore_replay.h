// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_REPLAY_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_REPLAY_H

// Adds the kinds of boxes of a recording.

#include "daemon/source/setup.h"

// The set-up's first source is of the recording. What the configuration selects here does not matter. As uncore_setup.
int uncore_replay_setup(struct setup *setup, const struct options *options, struct errors *errors);

#endif
