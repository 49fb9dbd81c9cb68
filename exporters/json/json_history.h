// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_HISTORY_H
#define TOPDOWND_EXPORTERS_JSON_JSON_HISTORY_H

// The history of some metrics as JSON: docs/api.md describes every field.

#include "core/history/marks.h"
#include "exporters/view/text.h"
#include "exporters/view/view.h"

struct json_history_series {
    const struct view *view; // of the core type
    size_t metric;           // of the plan
    long socket;             // HISTORY_HOST: of the host
    double *values;          // one for each step; NaN: not measured
};

struct json_history_mark {
    const struct view *view; // of the core type
    struct mark mark;
};

struct json_history {
    const struct view *view; // the first type's
    bool sockets;            // series of sockets, not of the host
    uint64_t step_ns, first; // as in struct history_range
    size_t n_steps;
    int64_t wall_offset_ns; // 0: times are not known
    struct json_history_series *series;
    size_t n_series;
    struct json_history_mark *marks;
    size_t n_marks;
};

// Appends the document. Returns 0 or -ENOMEM.
int json_render_history(const struct json_history *history, struct text *out);

#endif
