// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_SCENARIO_H
#define TOPDOWND_CORE_HOST_SCENARIO_H

// A simulated host as data: its CPUs, their loads, and the rivals that use the counters. docs/scenarios.md explains the
// files; config/scenario/scenario_json.h reads them; collectors/sim/pmu_sim.h simulates them.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/cpuset.h"

enum { SCENARIO_CPUS_MAX = 4096, SCENARIO_CORE_TYPES_MAX = 8, SCENARIO_UNCORE_MAX = 56 };

// An event's rate per second, by the catalog's event name.
struct scenario_rate {
    char *event;
    double per_second;
};

// A moment in a load's period. From here the rates change linearly to those of the next keyframe.
struct scenario_keyframe {
    double at_seconds; // ascending, the first is 0
    struct scenario_rate *rates;
    size_t n_rates; // events not named have rate 0
    bool awake_told;
    double awake; // if told: the share of the time in which a CPU is, 0 to 1
};

// A load: repeats after period_seconds. One keyframe: steady.
struct scenario_load {
    char *name;
    double period_seconds;
    struct scenario_keyframe *keyframes;
    size_t n_keyframes;
};

// Assigns a load to CPUs, each ahead of the one before it by a fixed time.
struct scenario_assignment {
    struct cpuset cpus;
    unsigned load;
    double offset_seconds; // of the first CPU
    double stagger_seconds;
};

// Another user of the counters, or a failure, on these CPUs from from_seconds to until_seconds. If period_seconds > 0,
// only for the first on_seconds of each period.
enum scenario_rival_kind {
    RIVAL_PINNED,   // a CPU-wide pinned event group of `counters` counters
    RIVAL_FLEXIBLE, // a CPU-wide flexible event group
    RIVAL_TASK,     // a task's event group: gets what CPU-wide groups leave
    RIVAL_REFUSE,   // event groups cannot be opened (-EMFILE)
    RIVAL_OFFLINE,  // the CPU is offline: groups do not run and cannot be opened (-ENODEV)
    RIVAL_JUMP,     // no rival: when it comes, the counts of all groups on the counters change by `by`
    // A guest runs: what the load does meanwhile does not happen. Only tests have one: files name none
    RIVAL_GUEST,   // event groups go on, and count nothing
    RIVAL_MEDIATED // it has the counters for itself: event groups, and their times, stand still
};
struct scenario_rival {
    enum scenario_rival_kind kind;
    struct cpuset cpus;
    unsigned counters;                  // general counters it takes
    bool cycles;                        // and the first fixed one or, if that is taken, one more general counter
    bool slots;                         // and the fixed one of the topdown leader, as perf stat often does
    double by;                          // of RIVAL_JUMP: a whole number
    double from_seconds, until_seconds; // until_seconds 0: forever
    double period_seconds, on_seconds;
};

struct scenario {
    char *name;
    char *description; // for people; NULL: none
    char *spec;        // the spec whose events the host counts
    unsigned sockets, cores_per_socket, threads_per_core;
    unsigned nodes_per_socket, caches_per_socket; // NUMA nodes, last-level caches; 0: not told
    unsigned general_counters;                    // 0: no limit
    bool validates_nothing; // event groups of any size open, as on some drivers; too large ones never run
    char **filtered;        // events that can be opened, run and count nothing, as behind KVM's filter
    size_t n_filtered;
    bool surplus;                   // the check at open ignores the leader, as on Linux: it accepts one member too many
    double maximum_frequency_hz;    // 0: unknown
    double memory_bytes_per_second; // boxes: the most that the memory of a socket can move; 0: unknown
    double clock_hz;                // of the clock that never changes: the time-stamp or system counter; 0: unknown
    struct scenario_load *loads;
    size_t n_loads;
    struct scenario_assignment *assignments; // the last one that names a CPU applies; CPUs without one are idle
    size_t n_assignments;
    struct scenario_rival *rivals;
    size_t n_rivals;
    // a host with several core types is a list of scenarios with the same sockets, cores and threads
    struct cpuset cpus;    // of this core type; empty: all
    struct scenario *next; // the next core type; NULL: there is none
    // PMUs outside the cores: a list of one scenario for each kind, whose name it has. A box is a core with one thread.
    // Only of the first core type
    struct scenario *uncore;
};

// Frees it and those that follow it.
struct scenario *scenario_free(struct scenario *scenario);

// Number of CPUs. A scenario numbers all first threads, socket by socket, core by core, then all second threads.
size_t scenario_n_cpus(const struct scenario *scenario);

// True if the CPU exists and is of the scenario's core type.
bool scenario_has_cpu(const struct scenario *scenario, unsigned cpu);

#endif
