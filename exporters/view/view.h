// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_H

// The facts that an exporter needs besides the snapshot. They change only with the plan: a new plan has a new view.
// Immutable and shared by reference counting, like snapshots.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/adapt/adapt.h"
#include "core/host/platform.h"
#include "core/tally/snapshot.h"

// A PMU that is missing or fails.
struct view_pmu_error {
    const char *pmu;
    const char *reason; // one word, for a label: absent, unsupported, not_allowed ...
    const char *text;   // for people, with the remedy
    bool of_host;       // concerns the whole host, not this core type
    bool uncore;        // a kind of PMU outside the cores
};

struct view {
    struct snapshot_layout *layout; // names catalog, plan and topology; a reference
    bool simulated;
    bool replayed; // measured at another time, maybe on another host
    const char *version;
    const char *revision;  // of the program's source; NULL: not known
    const char *hostname;  // for pages and JSON, never a label; NULL: a log of perf does not say it
    const char *core_type; // this view's core type, on a host with several; else NULL
    const char *pmu;       // the PMU in use: "software", "simulated" ...
    const char *cpu_vendor, *cpu_model, *cpu_microarchitecture; // the host's CPU; "unknown" if not known
    const char *profile;                                        // in force
    uint64_t config_hash;
    uint64_t seed;            // of the schedule
    const char *nmi_watchdog; // what it does to the counters, in a word; a literal; NULL: unknown
    bool guests_excluded;     // work in KVM guests is not counted; only if events take counters
    struct view_counters {
        unsigned total, usable; // of one CPU, general and fixed; 0: events take none
    } counters;
    bool standard_error;     // exported to Prometheus too
    unsigned max_cpu_series; // limit of /metrics/cpu; 0: none
    uint64_t interval_ns;    // between two snapshots
    struct view_files {
        const char *recording; // that readings are written to; NULL: none
        const char *textfile;  // that the page for Prometheus is written to; NULL: none
        const char *recorder;  // of a replay: the version of the topdownd that recorded it; NULL: unknown
        const char *elsewhere; // of a replay: the core type whose recording has what the host counted beside its cores,
                               // with PMUs and of memory; NULL: this one has it
    } files;
    const struct adapt_report *adapt; // of the adaptive schedule; NULL: the schedule is fixed
    struct platform *platform;        // of the host; NULL: not collected
    const struct view_pmu_error *pmu_errors;
    size_t n_pmu_errors;
    char *texts; // owned: the copied strings above
    atomic_uint references;
};

// Returns a copy of `facts`, with one reference owned by the caller. The copy holds references to layout and platform,
// and copies of everything else, as the last page may outlive the configuration that it shows; only literals are
// borrowed (version, revision, nmi_watchdog). NULL if out of memory.
struct view *view_new(const struct view *facts);
struct view *view_ref(struct view *view);
struct view *view_unref(struct view *view); // returns NULL, takes NULL

// True if a snapshot published `age_ms` ago is too old to show its gauges. A newer one comes after each snapshot
// interval, or after the first one of a new plan. Three intervals and VIEW_STALE_MS allow for both, for probing, and
// for a busy host. A replay is never too old: the last values stay at its end and in its gaps.
enum { VIEW_STALE_INTERVALS = 3, VIEW_STALE_MS = 2000 };
bool view_stale(const struct view *view, uint64_t age_ms);

// True if level 1 is measured in parts.
bool view_composite(const struct view *view);

// The catalog's entry for the plan's metric `metric`; and whether it can be measured here.
const struct catalog_metric *view_metric(const struct view *view, size_t metric);
bool view_plannable(const struct view *view, size_t metric);

// Why a metric that is not in the plan has no value.
extern const char VIEW_NOT_SELECTED[];

// False for a metric that was not selected and is measured only because another metric needs it.
bool view_exported(const struct view *view, size_t metric);

// True for a metric that has series: it is selected. What is fetched for the verdict is on pages and in JSON alone.
bool view_has_series(const struct view *view, size_t metric);

// The same for an event: a metric that is no fetched one needs it (index into layout->events).
bool view_event_has_series(const struct view *view, size_t event);

// The name of what the metric is a share of, for people.
const char *view_domain_text(enum metric_domain domain);

// What a metric with a domain is a share of: the domain, or for stall cycles which ones. Borrowed from the metric.
const char *view_whole(const struct catalog_metric *metric);
const char *view_title(const struct catalog_metric *metric);

// Why the plan's event `event` (index into layout->events) yields no samples; EVENT_TROUBLE_N if it does.
enum event_trouble view_trouble(const struct view *view, const struct snapshot *snapshot, size_t event);
// The same for people.
const char *view_trouble_text(const struct view *view, size_t event, enum event_trouble trouble);

// How many of the CPUs to be measured, on all sockets, were offline in the last round; NaN before the first.
double view_offline(const struct view *view, const struct snapshot *snapshot);

// Why the metric has no value in this scope; "" if it has one.
const char *view_absent_text(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric);

// True if the metric's events were counted all the time, so that its value has no error. An interval without a width
// alone does not say that: windows that take turns may have been alike.
bool view_exact(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric);

// Why a metric has a value in this scope, and no interval; NULL if it has both or neither.
const char *view_interval_reason(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric);

// Why a metric's quality is poor, for people; NULL if it is not, or if nothing more is known.
const char *view_quality_reason(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric);

// A time in seconds since the epoch, for people: "2026-11-22 04:03:52 UTC". False for NaN and times outside the years
// 1970 to 9999.
enum { VIEW_TIME_MAX = 32 };
bool view_time(double seconds, char out[VIEW_TIME_MAX]);

// True for a replay of a recording that leaves what the host counted beside its cores to that of another core type;
// `out` says so for people.
enum { VIEW_ELSEWHERE_MAX = 160 };
bool view_recorded_elsewhere(const struct view *view, char out[VIEW_ELSEWHERE_MAX]);

// Explains the negative errno of a recording, or of a text file, that cannot be written, for people, with the remedy.
const char *view_recording_text(int error);
const char *view_textfile_text(int error);

// What is wrong with the daemon itself, as a snapshot of the view tells: a recording that cannot be written, and for
// the first core type (`type` 0) also what is one for all: a configuration that was refused, and the text file.
enum { VIEW_TROUBLES_MAX = 3, VIEW_TROUBLE_MAX = 480 };
struct view_trouble {
    const char *name; // one word, the same in every version
    char text[VIEW_TROUBLE_MAX];
    const char *remedy; // with the cause, where the system says one
};
size_t view_troubles(const struct view *view, const struct snapshot *snapshot, size_t type,
                     struct view_trouble out[VIEW_TROUBLES_MAX]);

#endif
