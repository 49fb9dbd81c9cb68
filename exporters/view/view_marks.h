// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_MARKS_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_MARKS_H

// Notices what happened between two snapshots of a core type, for its history: core/history/marks.h has the kinds.

#include "core/history/marks.h"
#include "exporters/view/view.h"

struct view_marks {
    struct view *view; // of the last snapshot; a reference; NULL: none yet
    uint64_t at_ns;    // of the last snapshot that had a time: others are of the same moment
    double offline, gap_seconds, decisions;
    int64_t wall_offset_ns;
    bool told_time, yielded;
    int verdict; // the lasting one that was marked last: metric of the catalog, or as in core/tally/verdict.h
};

// Takes a snapshot with its view and adds a mark for whatever happened since the one before.
void view_marks_take(struct view_marks *marks, struct view *view, const struct snapshot *snapshot, struct marks *out);
void view_marks_deinit(struct view_marks *marks);

#endif
