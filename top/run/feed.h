// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_RUN_FEED_H
#define TOPDOWND_TOP_RUN_FEED_H

// Follows a daemon: asks for its pages, one after the other, and keeps what they say. A page that fails is asked for
// again two seconds later, as long as it takes.

#include "top/model/host.h"
#include "top/model/past.h"
#include "top/model/timeline.h"
#include "top/source/fetch.h"
#include "top/view/screen.h"

enum { FEED_WHY_MAX = 500 };

enum feed_page { FEED_TOPDOWN, FEED_HOST, FEED_SOCKETS, FEED_CPUS, FEED_MEMORY, FEED_STATUS, FEED_HISTORY, FEED_NONE };

struct feed {
    struct fetch *fetch;
    const char *source;
    bool everything; // read CPUs and sockets of every moment: it costs nobody else anything
    bool once;       // nothing is tried again
    bool stepped;    // the source moves only when it is asked to
    struct timeline timeline;
    struct frame *fresh; // being read; NULL: none
    struct host *host;
    struct past *past;
    enum feed_page page;            // under way
    double due[FEED_NONE];          // seconds of the monotonic clock at which a page is due
    char metric[SCREEN_METRIC_MAX]; // of which the past is wanted, too; "": none
    bool metric_refused;
    char gone[FEED_WHY_MAX]; // why nothing new comes; "": it does
    bool frame_came;         // since feed_step was last told to wait for one
};

// Asks for the next page that is due, if none is under way; takes what has come. `view` says what is on the screen,
// `paused` that the newest moment is not to be shown. True: something on the screen may have changed.
bool feed_work(struct feed *feed, const struct screen_state *view, bool paused, double now);

// Milliseconds until the next page is due; 0: now.
int feed_wait_ms(const struct feed *feed, double now);

void feed_deinit(struct feed *feed);

#endif
