// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_COLLECT_COLLECT_H
#define TOPDOWND_BENCH_COLLECT_COLLECT_H

// What the two parts of bench/collect share.

#include "collectors/pmu/sampler.h"
#include "core/tally/derive.h"

// A comparison over its limit is repeated: other programs can disturb one, but a regression is in all.
enum { COLLECT_EVENTS_MAX = 64, COLLECT_SLOT_NS = 200000000, COLLECT_ATTEMPTS = 8 };

// A plan, its CPUs and their layout.
struct rig {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct topology *topology; // the layout's
    struct plan *plan;         // the layout's
    bool refused;              // no event group can be opened
    bool cpus_read;            // somebody reads the intervals of single CPUs
};

// Plans the metric groups of the daemon's default profile, as far as the spec has them. Takes the topology.
void rig_init(struct rig *rig, const char *spec, struct topology *topology);
void rig_deinit(struct rig *rig);

// The path under test: the sampler, derive and a snapshot each time readings are over.
struct ours {
    const struct rig *rig;
    struct sampler *sampler;
    struct derive *derive;
    uint64_t now_ns;        // of the next step
    double *derive_seconds; // gets the CPU time of derive and the snapshot when readings are over; NULL: not measured
    bool keeps;             // the last snapshot, until the next one:
    struct snapshot *kept;
};

// Opens all event groups and begins the first round.
void ours_init(struct ours *ours, const struct rig *rig, struct pmu *pmu);
void ours_deinit(struct ours *ours);

// Goes to the next deadline. True if readings were over.
bool ours_step(struct ours *ours);

// A PMU that passes calls on to another one, and records them.
enum call_kind { CALL_DISABLE, CALL_ENABLE, CALL_READ, CALL_N };

struct trace {
    struct call {
        int handle;
        enum call_kind kind;
        unsigned steps; // taken with this call: the caller sleeps after them; 0: the step goes on
    } * calls;
    size_t n;
    struct opened {
        unsigned cpu;
        size_t n;
        uint64_t configs[COLLECT_EVENTS_MAX];
        bool enabled; // when the recorded calls began
    } * opened;       // by handle
    size_t n_opened;
    size_t by_kind[CALL_N];
};

struct noting_pmu {
    struct pmu pmu; // first
    struct pmu *real;
    struct trace *trace; // NULL: calls are only passed on
    bool software;       // opens one of the kernel's software events instead of each event
};

struct noting_pmu noting_pmu_of(struct pmu *real, struct trace *trace, bool software);

// Records the calls of `rounds` readings, without the opening of the event groups.
void trace_record(struct trace *trace, const struct rig *rig, struct pmu *real, bool software, size_t rounds);
void trace_free(struct trace *trace);

// What both ways took in each round, in the same run.
struct costs {
    double *ours, *peer; // seconds of CPU time
    double *derive;      // of ours, those of derive and the snapshot
    double *diagnosis;   // beside ours
    size_t n;
};
void costs_init(struct costs *costs, size_t n);
double costs_median(double *seconds, size_t n);
double costs_least(const double *seconds, size_t n);
void costs_free(struct costs *costs);

double collect_cpu_seconds(void);
_Noreturn void collect_fail(const char *what, int error);

// The two parts. `spec` may be NULL. Return false over a limit.
bool collect_host(const char *spec);
bool collect_large(void);

#endif
