// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_H

// Where counts come from: the kernel's counters of this host, or a simulated host; and with which spec they are read.

#include "collectors/host/host_cores.h"
#include "collectors/pmu/pmu.h"
#include "config/yaml/config.h"
#include "core/host/scenario.h"
#include "daemon/base/options.h"
#include "daemon/source/data.h"
#include "daemon/source/tape.h"
#include "exporters/view/view.h"

enum { SOURCE_TYPES_MAX = HOST_CORES_MAX, SOURCE_ERRORS_MAX = 8, SOURCE_TEXT_MAX = 512 };

struct source {
    struct catalog *catalog;       // encoded for this host
    bool vendors;                  // made of the vendor's files
    const struct cpu_map *cpus;    // borrowed from the specs
    struct host_cores cores;       // whose counts these are; row NULL: simulated, or no spec is for them
    bool several;                  // the host has cores of other types as well
    char core_type[HOST_TEXT_MAX]; // then the name of this one, else ""
    struct scenario *scenario;     // simulated, else NULL
    struct tape *tape;             // replayed, else NULL
    bool simulated;                // also what was recorded of a simulated host
    // What the catalog was made with, for a recording: what the formulas asked of the PMU, and what was looked for in
    // the vendor's files
    struct environment_answers answers;
    bool resident_dropped;
    char vendor_cpuid[HOST_CPUID_MAX];
    const char *vendor_pmu; // "": by the files
    char scenario_path[DATA_PATH_MAX + 64];
    struct host_roots roots;
    struct host_cpu cpu;
    char cpuid[HOST_CPUID_MAX];    // of an x86 CPU, else ""
    struct host_events events;     // that formulas may ask for
    const char *microarchitecture; // of the CPU, "unknown" where it is not known
    const char *pmu_name;
    uint32_t pmu_types[CATALOG_PMUS_MAX]; // perf_event_attr.type of each of the catalog's PMUs but those elsewhere
    char pmu_found[HOST_TEXT_MAX];
    unsigned general_counters; // as stated; 0: not stated, or events take none
    bool nmi_watchdog;         // holds a counter of every CPU
    uint8_t *support;          // enum plan_support of each of the catalog's events
    bool exclude_guest;        // what guests do is not counted
    // what is missing or fails, for people and for topdownd_pmu_error
    struct view_pmu_error errors[SOURCE_ERRORS_MAX];
    char error_texts[SOURCE_ERRORS_MAX][SOURCE_TEXT_MAX];
    size_t n_errors;
    char prefix[HOST_TEXT_MAX + 16]; // in front of what is logged of one of several types, else ""
    int open_error;                  // that the last of them is about, 0: it is not about opening
};

struct source_request {
    const struct options *options;
    const char *data; // folder
    const struct specs *specs;
    const struct config_specs *vendor; // NULL or without a path: our own specs
    bool all_events;                   // also those of the vendor's files that no metric uses
};

// Decides for each type of cores that the host has and that there is a spec and a PMU for, `out` in the order of their
// first CPUs; at least one, since a host without a hardware PMU has the kernel's software events. Says what it lacks,
// and where the vendor's files have nothing for its CPU, which then has our own spec. Returns 0, -EINVAL with the
// reason in `errors`, -ENOMEM; what is in `out` is the caller's to free also then.
int source_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                size_t *n);
struct source *source_free(struct source *source);

// Of a replay: makes all that is replayed ready. A log's metrics are those of the selections.
int source_load_tape(struct source *source, const struct plan_selection *selections, size_t n_selections,
                     struct errors *errors);

// `selected`: the CPUs to measure, NULL for all. -ENOENT: the host has other types of cores, and of this one none is
// selected and online.
int source_topology(struct source *source, const struct cpuset *selected, struct errors *errors, struct topology **out);

// Whether CPUs to measure have come online that `known` does not have: 1 and a new topology with them, 0, or -ENOMEM.
int source_topology_update(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out);

// Notes CPUs that are left out because their cores are of another kind than those of all sources.
void source_note_other_cores(struct source *const *sources, size_t n, const struct cpuset *selected);

// Decides whether guests are left alone: where this host may run any, unless they are to share the counters.
void source_choose_guests(struct source *source, bool share);

// Opens nothing yet. A simulated host's time begins at now_ns.
int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);

// Notes that `n_failed` event groups cannot be opened because of `error` (a negative errno), or that none fails any
// more (0); all of them together need `files` file descriptors (0: not known yet). True where this is news, which has
// been logged.
bool source_note_open_error(struct source *source, int error, size_t n_failed, size_t files);

// Whether events take hardware counters at all.
bool source_takes_counters(const struct source *source);
// True where the NMI watchdog holds the fixed counter of the catalog's event.
bool source_watchdog_holds(const struct source *source, size_t event);
// Fixed counters that can be had: one that the NMI watchdog holds cannot.
unsigned source_fixed_counters(const struct source *source);

#endif
