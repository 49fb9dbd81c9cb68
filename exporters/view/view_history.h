// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_HISTORY_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_HISTORY_H

// What was asked of the history, copied: the exporters render it without a lock.

#include "core/history/marks.h"
#include "core/memory/memory_metric.h"
#include "exporters/view/view.h"

struct view_history_series {
    const struct view *view; // of the core type or the kind of boxes; NULL: what the kernel counts of memory
    size_t metric;           // of the plan; or enum memory_metric
    long id;                 // HISTORY_HOST: of the host; else the kernel's number of the socket or NUMA node
    const double *values;    // one for each step; NaN: not measured
    const double *margins;   // how far their intervals reach to both sides; NaN: not known
};

struct view_history_mark {
    const struct view *view; // of the core type
    struct mark mark;
};

struct view_history {
    const struct view *view; // the first type's
    enum memory_scope scope; // whose series they are
    int64_t step_ns, first;  // as in struct steps_range
    size_t n_steps;
    int64_t wall_offset_ns; // 0: times are not known
    struct view_history_series *series;
    size_t n_series;
    double *values; // of all series, and behind them their margins
    struct view_history_mark *marks;
    size_t n_marks;
};

// A time by the snapshots' clock as seconds since the epoch; NaN where no snapshot told the time.
double view_history_seconds(const struct view_history *history, int64_t at_ns);

// Frees what the history points at, except views, which are borrowed.
void view_history_deinit(struct view_history *history);

#endif
