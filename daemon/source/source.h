// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_H

// Where counts come from, and with which spec they are read: facts that are the same whatever they come from, and a
// driver that answers what only the origin knows. Three files fill them: source_host.c from the kernel's files of this
// host, source_sim.c from a scenario, source_recording.c from a recording or a log of perf. Each embeds struct source
// as its first member, and nobody else asks which of the three it is.

#include "collectors/host/host_cores.h"
#include "collectors/pmu/pmu.h"
#include "config/yaml/config.h"
#include "core/plan/plan.h"
#include "daemon/base/options.h"
#include "daemon/source/data.h"
#include "exporters/view/view.h"

enum { SOURCE_TYPES_MAX = HOST_CORES_MAX, SOURCE_ERRORS_MAX = 8, SOURCE_TEXT_MAX = 512 };

struct source;

// What depends on the origin. NULL where there is nothing to do, or nothing to say.
struct source_driver {
    // See the functions below, which call these.
    int (*load)(struct source *source, const struct plan_selection *selections, size_t n_selections,
                struct errors *errors);
    int (*topology)(struct source *source, const struct cpuset *selected, struct errors *errors, struct topology **out);
    int (*topology_update)(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out);
    // CPUs that are online and selected and of none of the sources, which are all of this driver.
    size_t (*count_other_cores)(struct source *const *sources, size_t n, const struct cpuset *selected);
    void (*choose_guests)(struct source *source, bool share);
    int (*pmu)(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);
    void (*describe)(const struct source *source, char *out, size_t size);
    void (*deinit)(struct source *source); // what it has of its own
};

// What is missing or fails, for people and for topdownd_pmu_error.
struct source_troubles {
    struct view_pmu_error errors[SOURCE_ERRORS_MAX];
    char texts[SOURCE_ERRORS_MAX][SOURCE_TEXT_MAX];
    size_t n;
    int open_error; // that the last of them is about, 0: it is not about opening
};

// What the catalog was made with: a recording keeps it, to make the same one elsewhere.
struct source_making {
    struct environment_answers answers; // what the formulas asked of the PMU
    bool topdown_dropped;
    char vendor_cpuid[HOST_CPUID_MAX]; // what was looked for in the vendor's files
    const char *vendor_pmu;            // "": by the files
};

// What a recording says of its host, which goes before what is configured here. A log of perf says little of it.
struct source_past {
    const char *hostname, *profile; // NULL: not said
    bool adaptive;                  // the schedule, at its beginning
    const struct plan *plan;        // the first one, from source_load on
};

struct source {
    const struct source_driver *driver;
    struct catalog *catalog; // encoded for this host
    bool vendors;            // made of the vendor's files
    struct source_making making;
    struct host_roots roots;
    bool several;                    // the host has cores of other types as well
    unsigned first_cpu;              // of this type
    const char *own_spec;            // a spec that is for these cores; NULL: a generic one is, or none
    char core_type[HOST_TEXT_MAX];   // where there are several, the name of this one, else ""
    char prefix[HOST_TEXT_MAX + 16]; // in front of what is logged of one of several types, else ""
    bool simulated;                  // also what was recorded of a simulated host
    bool replayed;                   // measured at another time, maybe on another host
    struct source_past past;         // then
    struct host_cpu cpu;
    const char *microarchitecture; // of the CPU, "unknown" where it is not known
    const char *pmu_name;
    bool takes_counters;       // events take hardware counters at all
    unsigned general_counters; // as stated; 0: not stated, or events take none
    bool nmi_watchdog;         // holds a counter of every CPU
    uint8_t *support;          // enum plan_support of each of the catalog's events
    bool exclude_guest;        // what guests do is not counted
    struct source_troubles troubles;
};

struct source_request {
    const struct options *options;
    const char *data; // folder
    const struct specs *specs;
    const struct config_specs *vendor; // NULL or without a path: our own specs
    bool all_events;                   // also those of the vendor's files that no metric uses
};

// Adds the sources of one origin to `out`; what is in it is the caller's to free also after a failure.
typedef int source_filler(const struct source_request *request, struct errors *errors,
                          struct source *out[SOURCE_TYPES_MAX], size_t *n);

struct source *source_free(struct source *source);

// Of a replay: makes all that is replayed ready. A log's metrics are those of the selections. Returns 0, -EINVAL with
// the reason in `errors`, -ENOMEM.
int source_load(struct source *source, const struct plan_selection *selections, size_t n_selections,
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

// Opens nothing yet. A simulated host's time begins at now_ns. -EINVAL with the reason in `errors`; -EOPNOTSUPP: there
// is nothing to count with.
int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);

// One line on what is not a host, without an end; "" for a host. Cut at size - 1.
void source_describe(const struct source *source, char *out, size_t size);

// Notes that `n_failed` event groups cannot be opened because of `error` (a negative errno), or that none fails any
// more (0); all of them together need `files` file descriptors (0: not known yet). True where this is news, which has
// been logged.
bool source_note_open_error(struct source *source, int error, size_t n_failed, size_t files);

// True where the NMI watchdog holds the fixed counter of the catalog's event.
bool source_watchdog_holds(const struct source *source, size_t event);
// Fixed counters that can be had: one that the NMI watchdog holds cannot.
unsigned source_fixed_counters(const struct source *source);

// ---- for the files that fill sources ----

__attribute__((format(printf, 4, 5))) void source_note(struct source *source, const char *pmu, const char *reason,
                                                       const char *format, ...);

// The same for all events. Returns 0 or -ENOMEM.
int source_make_support(struct source *source, enum plan_support support);

// Reads the spec from the vendor's files, where the configuration names them. Returns 0; 1 where it does not, or they
// have nothing for this CPU, which is noted; -EINVAL with the reason in `errors`, -ENOMEM.
struct source_vendors {
    const char *cpuid;
    const char *pmu; // NULL: by the files
    const struct environment *environment;
    bool all_events;
};
int source_load_vendors(struct source *source, const struct source_request *request,
                        const struct source_vendors *vendors, struct errors *errors, struct catalog_builder **out);

// Names the type of cores that a source is of.
void source_name_type(struct source *source, const char *name);

// Gives each source of several the name of its type: its spec's, or where others have that one or it is a generic one,
// its PMU's.
void source_name_types(struct source *const *sources, size_t n);

#endif
