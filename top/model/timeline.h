// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_TIMELINE_H
#define TOPDOWND_TOP_MODEL_TIMELINE_H

// The moments that were read, in order, and the one that is shown. The oldest are given up for the newest.

#include "top/model/frame.h"

enum { TIMELINE_FRAMES_MAX = 4096, TIMELINE_BYTES_MAX = 64 << 20 };

struct timeline {
    struct frame *frames[TIMELINE_FRAMES_MAX];
    size_t n, at; // `at` < n unless there is none
};

// Takes the frame over. Shows it if the newest one was shown and `follow` is true.
void timeline_add(struct timeline *timeline, struct frame *frame, bool follow);

// NULL: none.
struct frame *timeline_shown(const struct timeline *timeline);
struct frame *timeline_newest(const struct timeline *timeline);

// Shows another moment, as near to `by` moments later (earlier: below 0) as there is one.
void timeline_move(struct timeline *timeline, long by);

void timeline_deinit(struct timeline *timeline);

#endif
