// SPDX-License-Identifier: Apache-2.0
#include "top/run/play.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

enum { LEAP = 10, WANTED_MAX = 100, AHEAD = 32 }; // AHEAD: moments that are asked for at once

static const double SPEEDS[] = {0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 0}; // 0: as fast as possible
enum { N_SPEEDS = sizeof SPEEDS / sizeof *SPEEDS };

static bool is_newest(const struct feed *feed) { return feed->timeline.at + 1 >= feed->timeline.n; }

// ---- keys ----

static void change_speed(struct play *play, int by) {
    int at = 0;
    while (at + 1 < N_SPEEDS && SPEEDS[at] < play->speed && SPEEDS[at] > 0)
        at++;
    at = play->speed > 0 ? at : N_SPEEDS - 1;
    at += by;
    play->speed = SPEEDS[at < 0 ? 0 : at < N_SPEEDS ? at : N_SPEEDS - 1];
}

static void ask(struct play *play) {
    if (play->fd < 0 || play->asked || play->over)
        return;
    play->asked = send(play->fd, "n", 1, MSG_NOSIGNAL) == 1;
}

static void step(struct play *play, struct feed *feed, long by) {
    long newer = (long)feed->timeline.n - 1 - (long)feed->timeline.at;
    play->paused = true;
    play->wanted = by > newer && play->wanted < WANTED_MAX ? play->wanted + (unsigned)(by - newer) : play->wanted;
    play->wanted = by > 0 && !play->over ? play->wanted : 0;
    timeline_move(&feed->timeline, by);
}

void play_act(struct play *play, struct feed *feed, enum screen_action action, double now) {
    if (action == SCREEN_PAUSE) {
        play->paused = !play->paused;
        play->wanted = 0;
        if (!play->paused && play->fd < 0)
            timeline_move(&feed->timeline, TIMELINE_FRAMES_MAX); // what is measured now
    } else if (action == SCREEN_STEP_BACK || action == SCREEN_LEAP_BACK)
        step(play, feed, action == SCREEN_STEP_BACK ? -1 : -LEAP);
    else if (action == SCREEN_STEP || action == SCREEN_LEAP)
        step(play, feed, action == SCREEN_STEP ? 1 : LEAP);
    else if (action == SCREEN_OLDEST)
        step(play, feed, -TIMELINE_FRAMES_MAX);
    else if (action == SCREEN_NEWEST) {
        timeline_move(&feed->timeline, TIMELINE_FRAMES_MAX);
        play->paused = play->paused && play->fd >= 0;
    } else if (action == SCREEN_FASTER || action == SCREEN_SLOWER)
        change_speed(play, action == SCREEN_FASTER ? 1 : -1);
    play->shown_at = now;
}

// ---- going on ----

// The process answers "s" after it has shown the moment, "e" if there is none.
static void hear(struct play *play, struct feed *feed) {
    char said;
    if (!play->asked || recv(play->fd, &said, 1, MSG_DONTWAIT) != 1)
        return;
    play->asked = false;
    play->over = said == 'e';
    play->wanted = play->over ? 0 : play->wanted;
    if (!play->over)
        feed->due[FEED_TOPDOWN] = 0;
}

// For how long the shown moment stays.
static double stays(const struct play *play, const struct feed *feed) {
    const struct frame *frame = timeline_shown(&feed->timeline);
    double seconds = frame && frame->round_seconds > 0 ? fmin(frame->round_seconds, 60) : 0;
    return play->speed > 0 ? seconds / play->speed : 0;
}

// A moment is wanted and under way.
static bool is_waiting(const struct play *play, const struct feed *feed) {
    return play->asked || feed->fresh || feed->page == FEED_TOPDOWN || feed->due[FEED_TOPDOWN] == 0;
}

bool play_work(struct play *play, struct feed *feed, double now) {
    bool came = feed->frame_came;
    feed->frame_came = false;
    if (play->fd < 0)
        return came;
    hear(play, feed);
    if (came) {
        if (play->wanted > 0)
            timeline_move(&feed->timeline, TIMELINE_FRAMES_MAX);
        play->wanted -= play->wanted > 0;
        play->shown_at = now;
        feed->due[FEED_HISTORY] = fmin(feed->due[FEED_HISTORY], now + 0.5);
    }
    // before the first moment there is nothing to see: that is not waited for
    const struct frame *shown = timeline_shown(&feed->timeline);
    bool first = shown && shown->sequence == 0 && is_newest(feed);
    if (is_waiting(play, feed) ||
        (!first && play->wanted == 0 && (play->paused || now < play->shown_at + stays(play, feed))))
        return came;
    if (is_newest(feed) || !shown) {
        if (shown)
            ask(play);
        return came;
    }
    timeline_move(&feed->timeline, 1);
    play->shown_at = now;
    return true;
}

void play_to_end(struct play *play) {
    char wanted[AHEAD], said[AHEAD];
    memset(wanted, 'n', sizeof wanted);
    ssize_t n = play->fd >= 0 ? AHEAD : 0;
    while (n > 0 && !play->over && send(play->fd, wanted, (size_t)n, MSG_NOSIGNAL) == n) {
        n = recv(play->fd, said, sizeof said, 0); // 0: the process has ended
        play->over = n > 0 && memchr(said, 'e', (size_t)n);
    }
}

int play_wait_ms(const struct play *play, const struct feed *feed, double now, int otherwise) {
    if (play->fd < 0 || (play->paused && play->wanted == 0) || is_waiting(play, feed))
        return otherwise;
    double wait = play->shown_at + stays(play, feed) - now;
    int wait_ms = wait > 0 ? (int)(wait * 1000) + 1 : play->over && is_newest(feed) ? otherwise : 0;
    return wait_ms < otherwise ? wait_ms : otherwise;
}
