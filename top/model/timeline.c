// SPDX-License-Identifier: Apache-2.0
#include "top/model/timeline.h"

#include <string.h>

static void drop_oldest(struct timeline *timeline) {
    frame_free(timeline->frames[0]);
    timeline->n--;
    memmove(timeline->frames, timeline->frames + 1, timeline->n * sizeof *timeline->frames);
    timeline->at -= timeline->at > 0;
}

// Frames grow while CPUs are read for them, so their sizes are added up anew.
static size_t bytes_of(const struct timeline *timeline) {
    size_t bytes = 0;
    for (size_t i = 0; i < timeline->n; i++)
        bytes += sizeof(struct frame) + timeline->frames[i]->arena.bytes;
    return bytes;
}

void timeline_add(struct timeline *timeline, struct frame *frame, bool follow) {
    bool newest = timeline->n == 0 || timeline->at + 1 == timeline->n;
    if (timeline->n == TIMELINE_FRAMES_MAX)
        drop_oldest(timeline);
    if (timeline->n > 0 && timeline->frames[timeline->n - 1]->sequence == 0) // before the first round: nothing is lost
        frame_free(timeline->frames[--timeline->n]);
    newest = newest || timeline->at >= timeline->n;
    follow = follow || timeline->at >= timeline->n;
    timeline->frames[timeline->n++] = frame;
    if (newest && follow)
        timeline->at = timeline->n - 1;
    for (size_t bytes = bytes_of(timeline); bytes > TIMELINE_BYTES_MAX && timeline->n > 1;) {
        bytes -= sizeof(struct frame) + timeline->frames[0]->arena.bytes;
        drop_oldest(timeline);
    }
}

struct frame *timeline_shown(const struct timeline *timeline) {
    return timeline->n > 0 ? timeline->frames[timeline->at] : NULL;
}

struct frame *timeline_newest(const struct timeline *timeline) {
    return timeline->n > 0 ? timeline->frames[timeline->n - 1] : NULL;
}

void timeline_move(struct timeline *timeline, long by) {
    long last = (long)timeline->n - 1, at = (long)timeline->at;
    at = by < -at ? 0 : by > last - at ? last : at + by;
    timeline->at = at > 0 ? (size_t)at : 0;
}

void timeline_deinit(struct timeline *timeline) {
    while (timeline->n > 0)
        frame_free(timeline->frames[--timeline->n]);
    timeline->at = 0;
}
