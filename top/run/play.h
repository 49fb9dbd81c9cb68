// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_RUN_PLAY_H
#define TOPDOWND_TOP_RUN_PLAY_H

// Plays a recording: asks the process that replays it for one moment after the other, at a speed, and steps through
// the moments that were read. Pauses and steps in what a daemon measures now, too.

#include "top/run/feed.h"

struct play {
    int fd; // to the replaying process (daemon/engine/stepper.h); -1: a daemon is followed
    bool paused;
    double speed;    // 0: as fast as possible
    unsigned wanted; // moments to go on to while it is paused, which have not been read
    bool asked;      // for a moment that has not come
    bool over;       // there is none after the newest one
    double shown_at; // seconds of the monotonic clock: when the shown moment came onto the screen
};

// Does what a key asks for.
void play_act(struct play *play, struct feed *feed, enum screen_action action, double now);

// Goes on to the next moment if it is time. True: the screen changes.
bool play_work(struct play *play, struct feed *feed, double now);

// Lets a recording run to its end before anything is read, as fast as it goes; returns at once where a daemon is
// followed.
void play_to_end(struct play *play);

// Milliseconds until there is something to do, at most `otherwise`.
int play_wait_ms(const struct play *play, const struct feed *feed, double now, int otherwise);

#endif
