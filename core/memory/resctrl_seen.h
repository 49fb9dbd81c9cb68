// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_MEMORY_RESCTRL_SEEN_H
#define TOPDOWND_CORE_MEMORY_RESCTRL_SEEN_H

// What the files of resctrl's groups say of each group's own tasks.
//
// A monitoring group's files say that by themselves. A control group's files are the sum of it and of those of its
// monitoring groups that can be read at that moment (kernel, fs/resctrl/monitor.c, mon_event_count: errors of children
// are discarded), so its own part is a difference of files: one that stops being readable takes all the bytes of its
// life out of the sum, and brings them back when it returns.
//
// The files are not read at one instant. The control group's are read before those of its monitoring groups and again
// after them, so that the own part lies between two differences.

#include <stdbool.h>
#include <stdint.h>

#include "core/memory/host_memory.h"

// What the two files of a group say in a place. NaN: no number now.
struct resctrl_said {
    double total, local;
    bool tells_local; // there is such a file
    bool unassigned;  // a number is missing because no hardware counter is assigned to the group
};

// The sum of those monitoring groups of a control group that have numbers, and which they are.
struct resctrl_children {
    double total, local;
    uint64_t set; // 0: none
    uint64_t old; // without those that were made since the last pass
    size_t n;     // all there are, also without a number
};

// `id` tells a group from all others, as its inode does. `fresh`: it was made since the last pass, with counts of 0.
void resctrl_children_add(struct resctrl_children *children, uint64_t id, const struct resctrl_said *said, bool fresh);

// What a pass sees of a group's own tasks.
struct resctrl_seen {
    double total, local;           // at least; local NaN: not told apart
    double most_total, most_local; // at most
    uint64_t set, old;             // of its monitoring groups; of those that are not new
    bool number;                   // false: it has none now
    bool unassigned;               // because of that
    bool part;                     // a difference of files
    bool whole;                    // a control group with its monitoring groups, which are not read
};

struct resctrl_seen resctrl_see_group(const struct resctrl_said *said);
struct resctrl_seen resctrl_see_part(const struct resctrl_said *first, const struct resctrl_said *again,
                                     const struct resctrl_children *children);

#endif
