// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_VIEW_SCREEN_H
#define TOPDOWND_TOP_VIEW_SCREEN_H

// What the view shows, and what keys do to that. Pure: no terminal, no clock and no network.

#include "top/model/frame.h"
#include "top/model/host.h"
#include "top/model/past.h"
#include "top/screen/grid.h"

enum { SCREEN_METRIC_MAX = 128, SCREEN_TOGGLED_MAX = 256, SCREEN_ROWS_MIN = 12, SCREEN_COLUMNS_MIN = 40 };

enum screen_kind {
    SCREEN_OVERVIEW,    // the verdict, level 1, the tree
    SCREEN_NODE,        // one node of the tree, or a metric
    SCREEN_UNITS,       // CPUs or sockets, sorted by a metric
    SCREEN_UNIT,        // all metrics of one of them
    SCREEN_EVENTS,      // what happened
    SCREEN_BOTTLENECKS, // what would help how much
    SCREEN_MEMORY,      // what the kernel counts of NUMA nodes, tiers and resctrl
    SCREEN_KINDS
};

// What there is to show.
struct screen_data {
    const struct frame *frame; // NULL: none yet
    const struct host *host;   // NULL: not known yet
    const struct past *past;   // NULL: not known yet
    const char *source;        // where it comes from, for people
    const char *gone;          // why nothing new comes; NULL: it does
    double now_seconds;        // since the epoch
    bool recording;            // it is played, at a speed
    bool paused, over;         // over: the recording has ended
    double speed;              // 0: as fast as possible
    size_t behind;             // moments that are newer than this one
};

struct screen_list {
    size_t at, first; // chosen row, first row that is seen
};

struct screen_state {
    enum screen_kind screen;
    bool help;
    size_t type; // which core type
    struct screen_list lists[SCREEN_KINDS];
    enum frame_scope scope;                         // of SCREEN_UNITS: FRAME_SOCKETS or FRAME_CPUS
    char sort[SCREEN_METRIC_MAX];                   // metric; "": by number
    bool ascending;                                 // the smallest first
    int unit;                                       // of SCREEN_UNIT: its number
    char metric[SCREEN_METRIC_MAX];                 // of SCREEN_NODE
    enum screen_kind before;                        // of SCREEN_NODE: where it was chosen
    unsigned list_rows;                             // rows that the list on the screen has, for whole pages
    unsigned long long toggled[SCREEN_TOGGLED_MAX]; // nodes that were opened or closed by hand
    size_t n_toggled;
};

// A key: a character, or one of these.
enum screen_key {
    SCREEN_KEY_UP = 256,
    SCREEN_KEY_DOWN,
    SCREEN_KEY_LEFT,
    SCREEN_KEY_RIGHT,
    SCREEN_KEY_PAGE_UP,
    SCREEN_KEY_PAGE_DOWN,
    SCREEN_KEY_HOME,
    SCREEN_KEY_END,
    SCREEN_KEY_ENTER,
    SCREEN_KEY_BACK
};

// What somebody else must do.
enum screen_action {
    SCREEN_NOTHING,
    SCREEN_QUIT,
    SCREEN_PAUSE, // or go on
    SCREEN_STEP_BACK,
    SCREEN_STEP,
    SCREEN_LEAP_BACK, // ten steps
    SCREEN_LEAP,
    SCREEN_OLDEST,
    SCREEN_NEWEST,
    SCREEN_FASTER,
    SCREEN_SLOWER
};

void screen_init(struct screen_state *view);
enum screen_action screen_press(struct screen_state *view, const struct screen_data *data, int key);
void screen_draw(struct screen_state *view, const struct screen_data *data, struct grid *grid);

// Whether the CPUs or sockets must be read to show this screen.
bool screen_wants(const struct screen_state *view, enum frame_scope scope);

#endif
