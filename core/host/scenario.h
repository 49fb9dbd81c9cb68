// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_SCENARIO_H
#define TOPDOWND_CORE_HOST_SCENARIO_H

// A simulated host as data: its CPUs, what runs on them, and who else uses the counters. docs/scenarios.md explains the
// files; config/scenario/scenario_json.h reads them; collectors/sim/pmu_sim.h brings them to life.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/cpuset.h"

enum { SCENARIO_CPUS_MAX = 4096, SCENARIO_CORE_TYPES_MAX = 8 };

// Events that happen at a rate of so many a second, by the catalog's event name.
struct scenario_rate {
    char *event;
    double per_second;
};

// A moment of a load's life: from here on the load moves in a straight line to the next moment's rates.
struct scenario_keyframe {
    double at_seconds; // ascending, the first is 0
    struct scenario_rate *rates;
    size_t n_rates; // events that are not named happen 0 times
};

// A load: repeats after period_seconds. One keyframe: steady.
struct scenario_load {
    char *name;
    double period_seconds;
    struct scenario_keyframe *keyframes;
    size_t n_keyframes;
};

// Which CPUs run a load, and how far each is ahead of the one before it.
struct scenario_assignment {
    struct cpuset cpus;
    unsigned load;
    double offset_seconds; // of the first CPU
    double stagger_seconds;
};

// Someone else who uses the counters, or something that goes wrong, on these CPUs from from_seconds on until
// until_seconds; where period_seconds > 0, in each period for the first on_seconds of it.
enum scenario_rival_kind {
    RIVAL_PINNED,   // a CPU-wide pinned event group of `counters` counters
    RIVAL_FLEXIBLE, // a CPU-wide flexible one
    RIVAL_TASK,     // a task's event group: gets what CPU-wide groups leave
    RIVAL_REFUSE,   // event groups cannot be opened (-EMFILE)
    RIVAL_OFFLINE   // the CPU is away: groups do not run and cannot be opened (-ENODEV)
};
struct scenario_rival {
    enum scenario_rival_kind kind;
    struct cpuset cpus;
    unsigned counters;                  // general counters it takes
    bool cycles;                        // and the first fixed one, where that is taken one general counter more
    bool slots;                         // and the fixed one of the topdown leader, as perf stat often does
    double from_seconds, until_seconds; // until_seconds 0: for ever
    double period_seconds, on_seconds;
};

struct scenario {
    char *name;
    char *spec; // whose events the host counts
    unsigned sockets, cores_per_socket, threads_per_core;
    unsigned general_counters;   // 0: no limit
    bool validates_nothing;      // an event group of any size opens, as on some drivers; too large, it never runs
    bool surplus;                // opening overlooks the group's leader, as on Linux: one member too many is accepted
    double maximum_frequency_hz; // 0: unknown
    struct scenario_load *loads;
    size_t n_loads;
    struct scenario_assignment *assignments; // the last one that names a CPU counts; a CPU that none names is idle
    size_t n_assignments;
    struct scenario_rival *rivals;
    size_t n_rivals;
    // a host with cores of several types is a list of scenarios with the same sockets, cores and threads
    struct cpuset cpus;    // of this core type; empty: all
    struct scenario *next; // the next core type; NULL: there is none
};

// With those that follow it.
struct scenario *scenario_free(struct scenario *scenario);

// CPU numbers of a scenario: all first threads socket by socket, core by core, then all second threads.
size_t scenario_n_cpus(const struct scenario *scenario);

// Whether the CPU is there and of the scenario's core type.
bool scenario_has_cpu(const struct scenario *scenario, unsigned cpu);

#endif
