// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_STEPPER_H
#define TOPDOWND_DAEMON_ENGINE_STEPPER_H

// Lets somebody else step a replay: `topdownd top`, which can pause and go at any speed. For each byte that comes on
// the socket, the replay makes one snapshot, and answers "s" when that has been published, or "e" if it has ended.

#include <stdbool.h>
#include <stdint.h>

struct stepper {
    int fd; // 0: nobody steps
    bool asked, made;
};

// How often the replay looks for a request.
static const uint64_t STEPPER_LOOK_NS = 5000000;

static inline bool stepper_is_asked(const struct stepper *stepper) { return stepper->fd > 0; }

// Answers for the snapshot that was made; call it when that has been published.
void stepper_answer(struct stepper *stepper);

// True if a snapshot is wanted.
bool stepper_may(struct stepper *stepper);

// Answers that there is none, if one is wanted.
void stepper_end(struct stepper *stepper);

#endif
