// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_HISTORY_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_HISTORY_H

// What was asked of the history, copied: the exporters render it without a lock.

#include "core/history/marks.h"
#include "exporters/view/view.h"

struct view_history_series {
    const struct view *view; // of the core type
    size_t metric;           // of the plan
    long socket;             // HISTORY_HOST: of the host
    const double *values;    // one for each step; NaN: not measured
};

struct view_history_mark {
    const struct view *view; // of the core type
    struct mark mark;
};

struct view_history {
    const struct view *view; // the first type's
    bool sockets;            // series of sockets, not of the host
    uint64_t step_ns, first; // as in struct history_range
    size_t n_steps;
    int64_t wall_offset_ns; // 0: times are not known
    struct view_history_series *series;
    size_t n_series;
    double *values; // of all series
    struct view_history_mark *marks;
    size_t n_marks;
};

// A time by the snapshots' clock as seconds since the epoch; NaN where no snapshot told the time.
double view_history_seconds(const struct view_history *history, uint64_t at_ns);

// Frees what the history points at, except views, which are borrowed.
void view_history_deinit(struct view_history *history);

#endif
