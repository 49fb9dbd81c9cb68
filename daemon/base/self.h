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
    uint64_t calls, interrupts;  // calls to the PMU; interrupts of other CPUs
    double collection_seconds;
    double interrupt_seconds; // time of interrupts on other CPUs, estimated
    double change_seconds;    // part of both: of changes (core/adapt/budget.h)
    double usual_seconds;     // CPU time of a step that rotates, lately; 0: not known yet
    double rotations, rotation_seconds;
    double buckets[SELF_BUCKETS_N]; // cumulative, as in the exposition
    uint64_t step_begun_ns, step_cpu_ns;
    bool counted;           // the next snapshot has new counts, or none are wanted
    double counted_seconds; // of the last such snapshot, since the epoch; before, when the daemon started
    struct self_config {
        bool successful;        // the last attempt to load it
        bool web_refused;       // the web configuration has changed since, and is wrong
        double success_seconds; // when it was last loaded, since the epoch
    } config;
    struct self_textfile {
        bool tried;        // it has been written, or could not be
        int error;         // negative errno of the last time; 0: it was written
        uint64_t failures; // total
    } textfile;
    double certificate_expiry_seconds; // of the HTTP server's, since the epoch; NaN: no TLS
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
// costs above SELF_UNUSUAL times the usual does not come back with every round, so it counts as a change.
enum { SELF_UNUSUAL = 16, SELF_USUAL_STEPS = 8 }; // the usual: the mean of about so many steps
void self_step_begin(struct self *self);
void self_step_end(struct self *self, uint64_t calls, uint64_t interrupts);
void self_change_end(struct self *self, uint64_t calls, uint64_t interrupts);

// Notes that the next snapshot has new counts, or that none are wanted.
void self_note_counted(struct self *self);

// Writes the self values of a snapshot. pmu_up: 1, 0, or NaN if the PMU is not used.
void self_fill(struct self *self, const struct host_roots *roots, double pmu_up, struct snapshot *snapshot);

#endif
