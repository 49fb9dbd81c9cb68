// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_MEMORY_RESCTRL_COUNT_H
#define TOPDOWND_CORE_MEMORY_RESCTRL_COUNT_H

// What one group of resctrl counts in one place: its own tasks, without those of the groups in it.
//
// Of a control group's own part a pass sees two differences of files, between which it lies
// (core/memory/resctrl_seen.h). They say something only while the same monitoring groups can be read; one that was made
// since the last pass adds to the sum what its own file says, and changes nothing. What was counted is the most that
// the lower one ever was, and an interval that begins anew begins at the higher one. So a total is at most the truth,
// and what it lacks is what the monitoring groups counted while they were read: that does not add up. The own part fell
// only if the higher one fell below what was counted. A monitoring group that comes, goes, ceases to have a number or
// has it again while the files are read is noticed; one that does two of these within one reading may be not, and then
// only the bound of the memory holds.

#include <stdbool.h>

#include "core/memory/resctrl_seen.h"

struct resctrl_count {
    double total, local;           // counted; local NaN: not told apart
    double from_total, from_local; // where the interval begins, in which it was counted
    double fell_from;              // an own part fell from there, and may come back; 0: it did not
    double seconds;                // when it was counted
    uint64_t set;                  // of monitoring groups in the last pass
    bool seen;                     // in a pass before
    bool known;                    // it has had a number
    bool readable;                 // it had one in the last pass
    bool hidden;                   // it was too small to be seen beside the others then
};

struct resctrl_growth {
    double total, local;                   // for the totals: bytes of earlier intervals may be among them
    double interval_total, interval_local; // since the last pass
    enum resctrl_gap gap;                  // why the interval lacks data, or data of it belong elsewhere
};

// When a pass is made, and what a group can move at most.
struct resctrl_moment {
    double seconds;         // since any moment
    double most_per_second; // bytes; INFINITY: not known
    double last_seconds;    // when the last pass was made; 0: none was
};

// A group that is new brings all that it counted since the last pass: the kernel sets it back when it is made. If that
// is more than the memory can have moved, it is not new. One that was there without a number counts from its first one
// on.
struct resctrl_growth resctrl_count_take(struct resctrl_count *count, const struct resctrl_seen *seen,
                                         struct resctrl_moment now);

#endif
