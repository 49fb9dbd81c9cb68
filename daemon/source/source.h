// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_H

// The origin of counts, and the spec to interpret them: facts in a common form, and a driver that answers what only the
// origin knows. Each driver's file fills it: for core types from the kernel's files of this host (source_host.c), from
// a scenario (source_sim.c), or from a recording or a log of perf (source_recording.c); for boxes from the same of each
// (daemon/uncore/). A driver may embed struct source as the first member of its own, and no other code asks which it
// is.

#include "collectors/host/host_cores.h"
#include "collectors/pmu/pmu.h"
#include "collectors/pmu/pmu_linux_tasks.h"
#include "config/yaml/config.h"
#include "core/plan/plan.h"
#include "daemon/base/options.h"
#include "daemon/source/data.h"
#include "exporters/view/view.h"

// Core types of a host.
enum { SOURCE_TYPES_MAX = HOST_CORES_MAX, SOURCE_ERRORS_MAX = 8, SOURCE_TEXT_MAX = 896 };

struct shown;
struct source;
struct source_tasks;

// The functions that depend on the origin. NULL: nothing to do or to report.
struct source_driver {
    // See the functions below, which call these.
    int (*load)(struct source *source, const struct plan_selection *selections, size_t n_selections,
                struct errors *errors);
    int (*topology)(struct source *source, const struct cpuset *selected, struct errors *errors, struct topology **out);
    int (*topology_update)(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out);
    // Counts selected online CPUs that belong to none of the sources, all of which have this driver.
    size_t (*count_other_cores)(struct source *const *sources, size_t n, const struct cpuset *selected);
    void (*choose_guests)(struct source *source, bool share);
    bool (*watchdog_on)(const struct source *source);
    int (*pmu)(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);
    size_t (*files)(const struct source *source, const struct plan *plan, size_t n_cpus); // NULL: one for each event on
                                                                                          // each CPU
    int (*tasks)(const struct source *source, const struct source_tasks *asked, struct pmu_linux_tasks **out);
    void (*describe)(const struct source *source, char *out, size_t size);
    void (*allowed)(struct source *source); // events can be opened again: looks anew at what was refused
    // Of two sources found one after the other (daemon/source/source_continue.h): whether they are the same beyond what
    // struct source says; exchanges what the PMU borrows.
    bool (*same)(const struct source *a, const struct source *b);
    void (*exchange)(struct source *a, struct source *b);
    void (*deinit)(struct source *source); // frees the driver's own members
};

// What is missing or fails, for messages and for topdownd_pmu_error.
struct source_troubles {
    struct view_pmu_error errors[SOURCE_ERRORS_MAX];
    char texts[SOURCE_ERRORS_MAX][SOURCE_TEXT_MAX];
    size_t n;
    int open_error;  // errno of the last one; 0: not about opening
    int no_hardware; // negative errno: why only the kernel's software events are measured; 0: they are not the only
                     // ones
    size_t hardware_note; // which of the errors says so
};

// The inputs of the catalog. A recording keeps them, to build the same catalog elsewhere.
struct source_making {
    struct environment_answers answers; // the formulas' questions about the PMU
    bool topdown_dropped;
    char vendor_cpuid[HOST_CPUID_MAX]; // what was searched for in the vendor's files
    const char *vendor_pmu;            // "": the files decide
};

// A recording's facts about its host, which take precedence over the configuration here. A log of perf has few of them.
struct source_past {
    const char *hostname, *profile; // NULL: unknown
    const char *version;            // of the topdownd that recorded it; NULL: another program did
    const char *first_type;         // whose recording has what the host counts beside its cores; NULL: this one
    bool adaptive;                  // the schedule was, at the beginning
    const struct plan *plan;        // the first one; set by source_load
};

struct source {
    const struct source_driver *driver;
    struct catalog *catalog; // encoded for this host
    bool vendors;            // built from the vendor's files
    struct source_making making;
    struct host_roots roots;
    bool several;                    // the host has other core types too
    unsigned first_cpu;              // of this type
    const char *own_spec;            // the spec for exactly these cores; NULL: a generic one or none
    char core_type[HOST_TEXT_MAX];   // the name of this one if there are several, else ""
    char prefix[HOST_TEXT_MAX + 16]; // prefix of log lines if there are several, else ""
    bool simulated;                  // also true for a recording of a simulated host
    bool replayed;                   // measured at another time, maybe on another host
    struct source_past past;         // facts about that host
    struct host_cpu cpu;
    const char *microarchitecture; // of the CPU; "unknown" if not known
    const char *pmu_name;
    bool takes_counters;       // events take hardware counters at all
    unsigned general_counters; // as stated; 0: not stated, or events take none
    bool watchdog_on;          // the kernel says that its NMI watchdog is on
    bool nmi_watchdog;         // it holds a counter of every CPU; assumed if it is on, until a probe tells
    bool smt_at_boot;          // exclusive events leave half of the general counters
    uint8_t *support;          // enum plan_support of each of the catalog's events
    bool exclude_guest;        // work in guests is not counted
    struct source_troubles troubles;
    const struct shown *newest; // what all engines told last, for counts that another one makes; NULL: not known
};

struct source_request {
    const struct options *options;
    const char *data; // folder
    const struct specs *specs;
    const struct config_specs *vendor; // NULL or without a path: shipped specs
    bool all_events;                   // include events of the vendor's files that no metric uses
};

// Adds the sources of one origin to `out`; the caller frees them even after a failure.
typedef int source_filler(const struct source_request *request, struct errors *errors,
                          struct source *out[SOURCE_TYPES_MAX], size_t *n);

struct source *source_free(struct source *source);

// Prepares a replay. A log's metrics are those of the selections. Returns 0, -EINVAL with the reason in `errors`,
// -ENOMEM.
int source_load(struct source *source, const struct plan_selection *selections, size_t n_selections,
                struct errors *errors);

// `selected`: the CPUs to measure, NULL for all. -ENOENT: the host has other core types, and no CPU of this one is both
// selected and online.
int source_topology(struct source *source, const struct cpuset *selected, struct errors *errors, struct topology **out);

// Checks for CPUs to measure that `known` lacks, because they have come online or are no longer isolated, and for CPUs
// of `known` that have become isolated. Returns 1 and a new topology, 0, -EINVAL if no CPU is left, or -ENOMEM.
int source_topology_update(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out);

// Notes CPUs that are left out because no source has their core type.
void source_note_other_cores(struct source *const *sources, size_t n, const struct cpuset *selected);

// Decides whether to exclude guests: if this host may run any, unless `share` is set.
void source_choose_guests(struct source *source, bool share);

// Makes the PMU; opens nothing yet. A simulated host's time begins at now_ns. -EINVAL with the reason in `errors`;
// -EOPNOTSUPP: the source cannot count.
int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);

// The file descriptors of a plan's event groups on so many CPUs.
size_t source_files(const struct source *source, const struct plan *plan, size_t n_cpus);

// Prepares to count a command's tasks (collectors/pmu/pmu_linux_tasks.h); opens nothing yet. -EOPNOTSUPP: the source
// cannot, because it is no host.
struct source_tasks {
    int pid;
    bool user_only;
};
int source_count_tasks(const struct source *source, const struct source_tasks *asked, struct pmu_linux_tasks **out);

// One line, without a line end, that describes a source other than a host; "" for a host. Cut at size - 1.
void source_describe(const struct source *source, char *out, size_t size);

// Notes that `n_failed` event groups cannot be opened because of `error` (a negative errno), or that none fails any
// more (0). All event groups together need `files` file descriptors (0: not known yet). Logs news and returns true for
// them.
bool source_note_open_error(struct source *source, int error, size_t n_failed, size_t files);
// Logs that others have all counters, or that counters can be had again.
void source_log_counters(const struct source *source, bool taken, const char *text);

// Looks again whether the NMI watchdog is on. True if that has changed: only a probe tells whether it holds a counter.
bool source_look_at_watchdog(struct source *source);
// The event whose fixed counter the watchdog holds if it is on; NULL: it is off or holds none on such a CPU.
const struct catalog_event *source_watchdog_event(const struct source *source);
// Takes a probe's answer. Logs news.
void source_note_watchdog(struct source *source, bool holds);
// Says which of the catalog's events a probe may use.
void source_choose_probe_events(const struct source *source, bool *usable);
// True if the NMI watchdog holds the fixed counter of the catalog's event.
bool source_watchdog_holds(const struct source *source, size_t event);
// The number of available fixed counters, without one that the NMI watchdog holds.
unsigned source_fixed_counters(const struct source *source);

// ---- for the files that fill sources ----

__attribute__((format(printf, 4, 5))) void source_note(struct source *source, const char *pmu, const char *reason,
                                                       const char *format, ...);

// The same for all events. Returns 0 or -ENOMEM.
int source_make_support(struct source *source, enum plan_support support);

// Reads the spec from the vendor's files, if the configuration names them. Returns 0; 1 if it does not, or if they have
// nothing for this CPU, which is noted; -EINVAL with the reason in `errors`, -ENOMEM.
struct source_vendors {
    const char *cpuid;
    const char *pmu; // NULL: the files decide
    const struct environment *environment;
    bool all_events;
};
int source_load_vendors(struct source *source, const struct source_request *request,
                        const struct source_vendors *vendors, struct errors *errors, struct catalog_builder **out);

// Names the source's core type.
void source_name_type(struct source *source, const char *name);

// Names the core type of each of several sources: after its spec, or after its PMU if the spec is generic or not
// unique.
void source_name_types(struct source *const *sources, size_t n);

#endif
