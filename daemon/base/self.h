// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_SELF_H
#define TOPDOWND_DAEMON_BASE_SELF_H

// The daemon's own cost, as it measures it: all core types together, against one budget.

#include "collectors/host/host_linux.h"
#include "core/adapt/budget.h"
#include "core/tally/snapshot.h"
#include "daemon/base/clocks.h"

struct self {
    const struct clocks *clocks; // borrowed
    double change_seconds;       // part of the cost: of changes (core/adapt/budget.h)
    double usual_seconds;        // CPU time of a step that rotates, lately; 0: not known yet
    uint64_t step_begun_ns, step_cpu_ns;
    bool counted;           // the next snapshot has new counts, or none are wanted
    double counted_seconds; // of the last such snapshot, since the epoch; before, when the daemon started
    struct status status;   // as of now, for the next snapshot
    bool web_refused;       // the web configuration has changed since the last attempt to load, and is wrong
    struct host_process process;
    struct budget budget;
};

// Starts at now_ns with n_cpus measured CPUs. `clocks` are borrowed.
void self_init(struct self *self, const struct clocks *clocks, size_t n_cpus, uint64_t now_ns);

// So many CPUs are measured from now on, on which the budget depends.
void self_measure_cpus(struct self *self, size_t n_cpus);

// Notes an attempt to load the configuration. The first one was the start, which succeeded.
void self_note_config(struct self *self, bool successful);

double self_realtime_seconds(const struct self *self); // since the epoch

// Compares the cost with the budget. True if the length of slots must change.
bool self_follow_budget(struct self *self, uint64_t now_ns);

// CPU seconds of steps that rotate or read, and of their interrupts, so far.
double self_rotation_cost(const struct self *self);

// True if what changes have cost is paid, so that another one may follow.
bool self_may_change(const struct self *self, uint64_t now_ns);

// Call self_step_begin before each step, and one of the others after it: self_step_end if it rotated event groups,
// self_change_end if it probed, opened or closed. The step made `calls` to the PMU, which caused `interrupts` on other
// CPUs. Each interrupt is assumed to cost its CPU as much as a call cost here. A call waits for the CPU that it
// interrupts, which takes long if that CPU is being taken offline, or if a hypervisor has stopped it. What a rotation
// costs above UNUSUAL_TIMES times the usual does not come back with every round, so it counts as a change.
enum { UNUSUAL_TIMES = 16, USUAL_STEPS = 8 }; // the usual: the mean of about so many steps
void self_step_begin(struct self *self);
void self_step_end(struct self *self, uint64_t calls, uint64_t interrupts);
void self_change_end(struct self *self, uint64_t calls, uint64_t interrupts);

// Notes that the next snapshot has new counts, or that none are wanted.
void self_note_counted(struct self *self);

// Writes the status of a snapshot, and its times.
void self_fill(struct self *self, const struct host_roots *roots, struct snapshot *snapshot);

#endif
