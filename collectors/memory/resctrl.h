// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_MEMORY_RESCTRL_H
#define TOPDOWND_COLLECTORS_MEMORY_RESCTRL_H

// The bytes that resctrl counts, where somebody has mounted it: Intel's MBM, AMD's bandwidth monitoring, Arm's MPAM.
// topdownd mounts nothing and writes nothing there.
//
// Each group is counted by itself (core/memory/resctrl_count.h): monitoring groups by their own files, control groups
// by what their files have more than those of their monitoring groups. The sum over all groups is that of all tasks.
// Totals only grow. An interval in which a group comes or goes, begins or ceases to have a number, or has a count that
// falls or cannot be, has no rate, and says why. Where there are more groups than can be read, control groups are read
// alone, with what is in them: then a monitoring group that comes or goes costs an interval, and one that has no number
// is noticed only as far as the sum falls.
//
// Each file that is read makes a CPU of its domain answer, in an interrupt or in a thread of the kernel there.

#include "collectors/host/host_linux.h"
#include "core/memory/resctrl_count.h"

enum { RESCTRL_GROUPS_MAX = 256, RESCTRL_FILES_MAX = 1024 };

struct resctrl;

// `roots` are borrowed. NULL if out of memory.
struct resctrl *resctrl_new(const struct host_roots *roots);
struct resctrl *resctrl_free(struct resctrl *resctrl); // returns NULL, takes NULL

// Fills in the state, the domains and groups with their totals, and what they were before as far as it is known that
// there was a pass before. Returns the number of files that made a CPU answer.
unsigned resctrl_read(struct resctrl *resctrl, struct resctrl_moment now, struct host_memory *out);

#endif
