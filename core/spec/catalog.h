// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_H
#define TOPDOWND_CORE_SPEC_CATALOG_H

// A spec in memory: the events that a CPU can count and the metrics that its vendor derives from them.
//
// A catalog is read-only; core/spec/catalog_builder.h builds it. Entries refer to each other by index. Event 0 of every
// catalog is the measured time, CATALOG_CPU_SECONDS: CPU time in seconds, which adds up over CPUs like counts.
//
// A metric may use others. If the other one is a ratio, the formula takes its value, which may come from other windows.
// If it is a count, the formula includes it, so that its events are counted together with the rest
// (core/formula/formula.h, scale_free). A metric comes after those that it uses, so evaluating in order of index is
// always right.
//
// A metric may have alternatives: other definitions under its exported name, each a metric of its own after it,
// so that one of them can take its place in a plan (core/plan/plan_alternative.h).

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/fault.h"
#include "core/base/name_index.h"
#include "core/formula/formula.h"
#include "core/host/environment.h"
#include "core/spec/bottleneck.h"
#include "core/spec/event_format.h"
#include "core/spec/event_need.h"
#include "core/spec/pmu_event.h"
#include "core/spec/traffic.h"

enum { CATALOG_CPU_SECONDS = 0, CATALOG_EVENTS_MAX = 16384, CATALOG_METRICS_MAX = 8192, CATALOG_GROUPS_MAX = 1024 };
enum { CATALOG_SAMPLES_MAX = 16 }; // of a node
enum { CATALOG_SPLIT_MAX = 8, CATALOG_SPLIT_EVENTS_MAX = 32, CATALOG_PMUS_MAX = 64, CATALOG_TOPDOWN_MAX = 24 };

// The exported name of instructions per cycle, the one metric by which hosts of every vendor and without level 1 too
// are compared (docs/metrics.md, "One name, several definitions").
#define CATALOG_IPC "ipc"
// Other names that every vendor has, which the diagnosis looks for on each CPU.
#define CATALOG_UTILIZATION "utilization_ratio"
#define CATALOG_FREQUENCY "frequency_hertz"
#define CATALOG_FRONTEND_STALLED "frontend_stalled_clocks_ratio"
#define CATALOG_L1D_MPKI "l1d_cache_mpki"
#define CATALOG_L2_MPKI "l2_cache_mpki"
#define CATALOG_LL_MPKI "ll_cache_mpki"
#define CATALOG_DTLB_MPKI "dtlb_mpki"

// The level-1 categories, named alike for every vendor.
enum category {
    CATEGORY_FRONTEND_BOUND,
    CATEGORY_BAD_SPECULATION,
    CATEGORY_RETIRING,
    CATEGORY_BACKEND_BOUND,
    CATEGORY_SMT_CONTENTION, // apart from the others: what a thread lost to its sibling, where the PMU can tell
    CATEGORY_N
};
const char *category_name(enum category category);

// The whole of which a metric is a share. Shares of pipeline slots add up; shares of clock cycles overlap and do not.
// Shares of stall cycles divide the stalls that a node above counts: they say nothing of how many there are.
enum metric_domain { METRIC_OTHER, METRIC_PIPELINE_SLOTS, METRIC_CLOCKS, METRIC_STALLS };

// What a high share of a node waits for, as far as the node tells: then what the memory moves says why.
enum catalog_waits {
    WAITS_NONE,     // not for memory
    WAITS_BACK_END, // for data or for execution, which it does not tell apart
    WAITS_MEMORY,   // for data, in caches or DRAM
    WAITS_DRAM,
    WAITS_DRAM_BANDWIDTH, // as the core sees it: it has as many misses open as it can
    WAITS_DRAM_LATENCY,   // as the core sees it: few misses, each of which it waits for
    WAITS_NOTHING,        // useful work that is done well: a high share is no reason to change anything
    WAITS_N
};
// In a spec; "" for WAITS_NONE.
const char *catalog_waits_name(enum catalog_waits waits);

// The kinds of events in formulas.
enum catalog_event_kind {
    EVENT_COUNTED,     // an event of a PMU
    EVENT_CPU_SECONDS, // CPU time: adds up over CPUs
    EVENT_DURATION,    // perf's duration_time: elapsed seconds, the same for one CPU and many
    EVENT_CORE_WIDE,   // perf's #core_wide with SMT: 1 for sums over whole cores, 0 for one CPU and if a sibling is not
                       // measured
    EVENT_CORE_SLOTS   // a thread's part of its core's pipeline slots (enum catalog_core_slots)
};

// What a PMU counts that sees the core from one hardware thread at full width, as AMD's: each slot of the thread's
// cycles is used, unused for a reason of the thread's own, or granted to its sibling. Formulas over a window's counts.
enum catalog_thread_slots {
    THREAD_SLOTS_ALL,      // width x cycles of the thread
    THREAD_SLOTS_USED,     // dispatched, useful or not
    THREAD_SLOTS_FRONTEND, // unused
    THREAD_SLOTS_BACKEND,
    THREAD_SLOTS_N
};
const char *catalog_thread_slots_name(enum catalog_thread_slots slots);

// A thread's part of the slots that its core had to give, which core/counts/core_slots.h makes of these. The names are
// those in formulas.
enum catalog_core_slots { CORE_SLOTS_ALL, CORE_SLOTS_FRONTEND, CORE_SLOTS_BACKEND, CORE_SLOTS_N };
const char *catalog_core_slots_name(enum catalog_core_slots slots);
// True for a name in formulas, in any case, that stands for something which no PMU counts (duration_time, core_slots).
bool catalog_is_special_name(const char *name);

// When a metric's events cannot be counted as one event group, as stated by the vendor (perf's MetricConstraint).
enum metric_constraint {
    CONSTRAINT_NONE,
    CONSTRAINT_NO_GROUP,            // never
    CONSTRAINT_NO_GROUP_NMI,        // while the NMI watchdog holds a counter
    CONSTRAINT_NO_GROUP_SMT,        // while SMT is on
    CONSTRAINT_NO_THRESHOLD_AND_NMI // only together with the threshold's events, while the watchdog is on
};

struct catalog_event {
    enum catalog_event_kind kind;
    char *name;
    char *title;            // in a few words; "" if the spec has none
    char *terms;            // in perf's form: "event=0xc2,umask=0x01"
    struct pmu_event code;  // these terms encoded in the format of their PMU
    char *uncoded;          // why no known format can encode them, for another PMU's event; NULL: `code` is valid
    struct event_need need; // which counters it needs
    bool fixed;             // has a counter of its own (the cycle counter)
    bool topdown;           // in catalog.topdown
    bool sampling_only;     // can be sampled but not counted
    bool must_count;        // in any busy second of any CPU of the spec: core/counts/zeros.h has what follows from it
    bool may_be_zero;       // of catalogs of earlier versions alone: a count which stays 0 is true whatever else is
    char *known_dead; // why this CPU does not count it, or not rightly, and who says so; NULL: nothing is known against
                      // it
};

struct catalog_metric {
    char *name;          // the vendor's
    char *vendor;        // whose name it is if not the product's vendor; else ""
    char *export_name;   // topdownd_<export_name>, and label `metric`
    char *title, *help;  // a few words; one or more sentences, may be ""
    char *units;         // free text, a label
    char *formula_text;  // from the spec
    double export_scale; // exported value / formula's value: 0.01 if the vendor uses per cent
    enum metric_domain domain;
    struct formula *formula;   // variables are event indexes, metrics are metric indexes; NaN if unmeasurable
    char *unmeasurable;        // why no host can measure it as specified; NULL: no such reason known
    char *threshold_text;      // "" if there is none
    struct formula *threshold; // over metrics, in the scale of their formulas; not 0: high. NULL: none
    char *definition; // what exactly a name that every vendor has counts here, as a short key; "" if there is none
    char *meaning;    // what a high value tells a software developer; "" if the spec has none
    int parent;       // the metric above it in the tree; -1: none
    int included_in;  // the sibling that counts all that this one counts, and more; -1: none
    int alternative;  // another definition, for hosts on which an event of this one is dead; -1: none
    int stands_for;   // this is an alternative of that metric, whose exported name it has; -1: it is none
    enum metric_constraint constraint;
    enum catalog_waits waits;
    enum traffic traffic;  // what it tells for all vendors alike; TRAFFIC_NONE: nothing
    double rate_threshold; // numerator per second on the whole host above which a cause is needed; 0: none
    char *rate_advice;     // what to look for above it; "" if there is none
};

// A metric, a metric group, or both that have this name. core/diagnosis/next.h says where they lead.
struct catalog_step {
    char *name;
    int metric, group; // -1: none; resolved when the catalog is finished
};

// The metrics and metric groups to which the methodology leads if a metric is high; and the events whose samples show
// the code that makes it high.
struct catalog_node {
    unsigned metric;
    bool root;
    struct catalog_step *next;
    size_t n_next;
    unsigned *samples;
    size_t n_samples;
};

struct catalog_group {
    char *name;
    char *title, *help;
    unsigned *metrics; // each once
    size_t n_metrics;
    unsigned default_place; // among the groups that the spec recommends for every host, from 1; 0: it is none of them
};

// The level-1 split: all pipeline slots, and the metrics that divide them.
struct catalog_level1 {
    bool present;
    char *pipeline_slots_text;
    struct formula *pipeline_slots;
    double width;    // pipeline slots a cycle and core; 0: not known
    bool per_thread; // the PMU sees the core from one thread: `thread` is set, and pipeline slots are made of it
    struct formula *thread[THREAD_SLOTS_N];
    char *thread_texts[THREAD_SLOTS_N];
    int contention; // the metric that is the share of a thread's own slots that its sibling got; -1: none
    size_t n_categories;
    struct {
        enum category category;
        unsigned metric;
    } categories[CATEGORY_N];
    size_t n_replaced;
    struct {
        unsigned metric, by;
    } replaced[CATEGORY_N]; // categories of the level 1 that this host hides, and those in their places
    unsigned *metrics;      // the categories' metrics, `contention`, and those they need, ascending
    size_t n_metrics;
    size_t n_parts; // event groups to measure it with if it does not fit the counters; 0: it cannot be split
    struct {
        unsigned events[CATALOG_SPLIT_EVENTS_MAX];
        size_t n;
    } parts[CATALOG_SPLIT_MAX]; // at least one event is in every part and scales the others
};

// What follows from the values of metrics. NULL: the spec does not say it.
struct catalog_conclusion {
    char *formula_text;
    struct formula *formula; // over metric indexes alone
};

// The product that a spec describes. Strings are owned; none is NULL.
struct catalog_product {
    char *spec; // the spec's name: its file's, without .json
    char *vendor, *name, *microarchitecture;
    char *pmu;             // the kernel's PMU: a name, or a prefix ending in '*'
    unsigned group_events; // as many at most does its driver take in one event group; 0: all that it counts
    bool chosen;           // no spec: the configuration names the events, each with a metric that has its name and unit
};

// A register that several events program and of which a physical core has few (Intel's OFFCORE_RESPONSE MSRs).
struct catalog_register {
    char *term;      // of the PMU's format; its value goes to the register
    unsigned values; // number of different values at once
};

// Indexes of the names of events and metrics.
struct catalog_names {
    struct name_index events, metrics;
    char **aliases; // other names of events; `events` finds them too
    size_t n_aliases;
};

struct catalog {
    struct catalog_product product;
    char *pmus[CATALOG_PMUS_MAX]; // [0] is product.pmu
    size_t n_pmus;
    struct event_format *format;  // of the core PMU
    unsigned general_counters;    // as stated by the vendor; 0: events take no counters (software)
    int watchdog_event;           // the NMI watchdog takes its fixed counter; -1: none
    int duration_event;           // the one of kind EVENT_DURATION; -1: no formula uses it
    int core_wide_event;          // the one of kind EVENT_CORE_WIDE, likewise
    int core_slots[CORE_SLOTS_N]; // those of kind EVENT_CORE_SLOTS, likewise
    struct catalog_register registers[EVENT_REGISTERS_MAX]; // event_need.reg - 1
    size_t n_registers;
    unsigned topdown[CATALOG_TOPDOWN_MAX]; // the leader of the PMU's topdown counters, then the events carried after it
    size_t n_topdown;
    struct catalog_event *events;
    size_t n_events;   // [0] is CATALOG_CPU_SECONDS
    bool doubts_zeros; // of earlier versions: catalog_doubt_zeros made must_count
    struct catalog_metric *metrics;
    size_t n_metrics;
    struct catalog_group *groups;
    size_t n_groups;
    struct catalog_level1 level1;
    struct catalog_conclusion bottlenecks[BOTTLENECK_N]; // shares of all pipeline slots
    struct catalog_conclusion computes_well;             // not 0: where useful work is high, it is done well
    struct catalog_node *nodes;
    size_t n_nodes;
    struct environment_facts environment; // for which the formulas are compiled
    struct catalog_names names;
    atomic_uint shares; // references beside the owner's
};

// Gives up the owner's reference, or one from catalog_share; the last one frees the catalog. Returns NULL, takes NULL.
struct catalog *catalog_free(struct catalog *catalog);
// Another reference: what was derived from a catalog may outlive its owner, such as the newest page over a reload.
const struct catalog *catalog_share(const struct catalog *catalog);

// Index, or -1. Groups compare by name_equal; events and metrics must match exactly, except in the function for any
// case. A name in a formula is an exactly matching metric, else an event; if there is neither, the same ignoring case.
// The metric's own name means the event.
int catalog_find_event(const struct catalog *catalog, const char *name);
int catalog_find_event_any_case(const struct catalog *catalog, const char *name, size_t length);
int catalog_find_metric(const struct catalog *catalog, const char *name);
int catalog_find_group(const struct catalog *catalog, const char *name);

// The metric by which others name this one: itself, unless it is an alternative of another.
static inline unsigned catalog_metric_named(const struct catalog *catalog, unsigned metric) {
    int stands_for = catalog->metrics[metric].stands_for;
    return stands_for >= 0 ? (unsigned)stands_for : metric;
}

// The metric that stands for this one on this host: itself, unless it is a category of a level 1 that the host hides.
unsigned catalog_metric_here(const struct catalog *catalog, unsigned metric);

// The reverse: the metric in whose place this one stands, or itself.
unsigned catalog_metric_hidden(const struct catalog *catalog, unsigned metric);

// The node of the tree whose events show, when sampled, the code behind a metric: its own, or that of the nearest
// metric above it that names events. NULL: none does.
const struct catalog_node *catalog_sample_node(const struct catalog *catalog, unsigned metric);

// The group that the spec recommends at this place, from 1; -1: it recommends fewer.
int catalog_default_group(const struct catalog *catalog, unsigned place);

// A hash of everything that affects values: a different hash means another version of the spec (or of the vendor's
// files).
uint64_t catalog_hash(const struct catalog *catalog);

// False for an event of a PMU of caches, memory or links: it counts for a socket or a die, not for each CPU.
bool catalog_event_for_each_cpu(const struct catalog *catalog, unsigned event);

// Writes why no host can count the event here, as the spec shows without one: it can only be sampled, or its PMU does
// not count for each CPU. False: nothing is known against it.
bool catalog_event_explain(const struct catalog *catalog, unsigned event, char *reason, size_t size);

// The same for a metric: the spec says so itself, or it needs such an event.
bool catalog_metric_explain(const struct catalog *catalog, unsigned metric, char *reason, size_t size);

// False if that is known against every metric of the group, and against all alternatives: the group has nothing on any
// host.
bool catalog_group_measurable(const struct catalog *catalog, unsigned group);

// True for what passes through boxes outside the cores or happens there, as its formula is that of one box: several
// boxes have the sum.
bool catalog_metric_adds(const struct catalog *catalog, const struct catalog_metric *metric);

// True for a share of operations: of useful work, the same share of its pipeline slots.
bool catalog_metric_of_operations(const struct catalog_metric *metric);

// True if the metric's numerator and denominator are exported; *k is the factor of their quotient.
bool catalog_metric_ratio(const struct catalog_metric *metric, double *k);

// For counts that add up nobody knows how many CPUs: what is "per second and CPU" is per second. Call it before anybody
// has read the catalog.
void catalog_add_up(struct catalog *catalog);

// The unit that a metric is exported in, for people: "ratio of pipeline slots", or the vendor's. Cut at size - 1.
enum { CATALOG_UNIT_MAX = 80 };
void catalog_metric_unit(const struct catalog_metric *metric, char *out, size_t size);

#endif
