// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_STEPS_H
#define TOPDOWND_DAEMON_ENGINE_STEPS_H

// Lets somebody else step a replay: `topdownd top`, which can pause and go at any speed. For each byte that comes on
// the socket, the replay makes one snapshot, and answers "s" when that has been published, or "e" if it has ended.

#include <stdbool.h>
#include <stdint.h>

struct steps {
    int fd; // 0: nobody steps
    bool asked, made;
};

// How often the replay looks for a request.
static const uint64_t STEPS_LOOK_NS = 5000000;

static inline bool steps_are_asked(const struct steps *steps) { return steps->fd > 0; }

// Answers for the snapshot that was made; call it when that has been published.
void steps_answer(struct steps *steps);

// True if a snapshot is wanted.
bool steps_may(struct steps *steps);

// Answers that there is none, if one is wanted.
void steps_end(struct steps *steps);

#endif
