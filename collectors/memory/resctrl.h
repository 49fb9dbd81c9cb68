// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_MEMORY_RESCTRL_H
#define TOPDOWND_COLLECTORS_MEMORY_RESCTRL_H

// The bytes that resctrl counts, where somebody has mounted it: Intel's MBM, AMD's bandwidth monitoring, Arm's MPAM.
// topdownd mounts nothing and writes nothing there.
//
// A control group's files count its own tasks and those of the monitoring groups in it (kernel, resctrl.rst), so the
// sum over the root and all control groups is that of all tasks; monitoring groups are not read. A value that falls
// (a monitoring group was removed, a counter was given to another group, the hardware was set back) adds nothing, and
// counting goes on from there: totals only grow. A group that is found with a number brings all that it counted; one
// that was there without a number, as where no hardware counter is assigned to it, counts from its first one on. An
// interval in which a group begins or ceases to have a number has no rate.
//
// Each file that is read makes a CPU of its domain answer, in an interrupt or in a thread of the kernel there.

#include "collectors/host/host_linux.h"
#include "core/memory/host_memory.h"

enum { RESCTRL_GROUPS_MAX = 128, RESCTRL_FILES_MAX = 1024 };

struct resctrl;

// `roots` are borrowed. NULL if out of memory.
struct resctrl *resctrl_new(const struct host_roots *roots);
struct resctrl *resctrl_free(struct resctrl *resctrl); // returns NULL, takes NULL

// Fills in the state and the domains with their totals, without what was before. Returns the number of files that made
// a CPU answer.
unsigned resctrl_read(struct resctrl *resctrl, struct host_memory *out);

#endif
