// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_VIEW_VIEW_H
#define TOPDOWND_TOP_VIEW_VIEW_H

// What the view shows, and what keys do to that. Pure: no terminal, no clock and no network.

#include "top/model/frame.h"
#include "top/model/host.h"
#include "top/screen/grid.h"

enum { VIEW_METRIC_MAX = 128, VIEW_TOGGLED_MAX = 256, VIEW_ROWS_MIN = 12, VIEW_COLUMNS_MIN = 40 };

enum view_screen {
    VIEW_OVERVIEW, // the verdict, level 1, the tree
    VIEW_NODE,     // one node of the tree, or a metric
    VIEW_UNITS,    // CPUs or sockets, sorted by a metric
    VIEW_UNIT,     // all metrics of one of them
    VIEW_EVENTS,   // what happened
    VIEW_MEMORY,   // what the kernel counts of NUMA nodes, tiers and resctrl
    VIEW_SCREENS
};

// What there is to show.
struct view_data {
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

struct view_list {
    size_t at, first; // chosen row, first row that is seen
};

struct view_state {
    enum view_screen screen;
    bool help;
    size_t type; // which core type
    struct view_list lists[VIEW_SCREENS];
    enum frame_scope scope;                       // of VIEW_UNITS: FRAME_SOCKETS or FRAME_CPUS
    char sort[VIEW_METRIC_MAX];                   // metric; "": by number
    bool ascending;                               // the smallest first
    int unit;                                     // of VIEW_UNIT: its number
    char metric[VIEW_METRIC_MAX];                 // of VIEW_NODE
    enum view_screen before;                      // of VIEW_NODE: where it was chosen
    unsigned list_rows;                           // rows that the list on the screen has, for whole pages
    unsigned long long toggled[VIEW_TOGGLED_MAX]; // nodes that were opened or closed by hand
    size_t n_toggled;
};

// A key: a character, or one of these.
enum view_key {
    VIEW_KEY_UP = 256,
    VIEW_KEY_DOWN,
    VIEW_KEY_LEFT,
    VIEW_KEY_RIGHT,
    VIEW_KEY_PAGE_UP,
    VIEW_KEY_PAGE_DOWN,
    VIEW_KEY_HOME,
    VIEW_KEY_END,
    VIEW_KEY_ENTER,
    VIEW_KEY_BACK
};

// What somebody else must do.
enum view_action {
    VIEW_NOTHING,
    VIEW_QUIT,
    VIEW_PAUSE, // or go on
    VIEW_STEP_BACK,
    VIEW_STEP,
    VIEW_LEAP_BACK, // ten steps
    VIEW_LEAP,
    VIEW_OLDEST,
    VIEW_NEWEST,
    VIEW_FASTER,
    VIEW_SLOWER
};

void view_init(struct view_state *view);
enum view_action view_press(struct view_state *view, const struct view_data *data, int key);
void view_draw(struct view_state *view, const struct view_data *data, struct grid *grid);

// Whether the CPUs or sockets must be read to show this screen.
bool view_wants(const struct view_state *view, enum frame_scope scope);

#endif
