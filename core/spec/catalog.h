// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_H
#define TOPDOWND_CORE_SPEC_CATALOG_H

// A spec in memory: what a CPU can count and what its vendor derives from it.
//
// A catalog is only read: core/spec/catalog_builder.h makes it. Everything refers to everything else by index. Event 0
// of every catalog is the time measured, CATALOG_CPU_SECONDS: CPU time in seconds, which adds up over CPUs as counts
// do.
//
// A metric may use others. One that is a ratio is used by its value, which may come from other windows; one that is a
// count is put in place, so that its events are counted together with the rest (core/formula/formula.h, scale_free). A
// metric stands after those that it uses, so evaluating in order of index is always right.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/fault.h"
#include "core/base/name_index.h"
#include "core/formula/formula.h"
#include "core/host/environment.h"
#include "core/spec/event_format.h"
#include "core/spec/event_need.h"
#include "core/spec/pmu_event.h"

enum { CATALOG_CPU_SECONDS = 0, CATALOG_EVENTS_MAX = 16384, CATALOG_METRICS_MAX = 8192, CATALOG_GROUPS_MAX = 1024 };
enum { CATALOG_SPLIT_MAX = 8, CATALOG_SPLIT_EVENTS_MAX = 32, CATALOG_PMUS_MAX = 64, CATALOG_TOPDOWN_MAX = 24 };

// The level-1 categories, the same words on every vendor.
enum category {
    CATEGORY_FRONTEND_BOUND,
    CATEGORY_BAD_SPECULATION,
    CATEGORY_RETIRING,
    CATEGORY_BACKEND_BOUND,
    CATEGORY_SMT_CONTENTION, // AMD with SMT only
    CATEGORY_N
};
const char *category_name(enum category category);

// What a metric is a share of. Shares of pipeline slots add up; shares of clock cycles overlap and do not.
enum metric_domain { METRIC_OTHER, METRIC_PIPELINE_SLOTS, METRIC_CLOCKS };

// What stands for an event in a formula.
enum catalog_event_kind {
    EVENT_COUNTED,     // an event of a PMU
    EVENT_CPU_SECONDS, // CPU time: adds up over CPUs
    EVENT_DURATION,    // perf's duration_time: seconds that passed, the same for one CPU and for many
    EVENT_CORE_WIDE    // perf's #core_wide where there is SMT: 1 for sums over whole cores, 0 for one CPU and where a
                       // sibling is not measured
};

// When a metric's events cannot be counted as one event group, by the vendor's word (perf's MetricConstraint).
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
    char *title;           // in a few words; "" where the spec has none
    char *terms;           // what perf would write: "event=0xc2,umask=0x01"
    struct pmu_event code; // these terms in the format of their PMU
    char *uncoded; // why no format known makes numbers of them, an event of another PMU's; NULL: `code` has them
    struct event_need need; // of counters
    bool fixed;             // has a counter of its own (the cycle counter) beside the general ones
    bool topdown;           // is among catalog.topdown
    bool sampling_only;     // can only be sampled, never counted
};

struct catalog_metric {
    char *name;         // the vendor's
    char *export_name;  // topdownd_<export_name>, and the value of label `metric`
    char *title, *help; // a few words; a sentence or more, may be ""
    char *units;        // free text, a label
    char *formula_text; // as the spec has it
    double
        export_scale; // what a formula's value is multiplied with to be exported: 0.01 where the vendor says per cent
    enum metric_domain domain;
    struct formula *formula;   // variables are event indexes, metrics are metric indexes; NaN where it is unmeasurable
    char *unmeasurable;        // why no host can measure it as the spec has it; NULL: none of that kind is known
    char *threshold_text;      // "" where there is none
    struct formula *threshold; // over metrics, in the scale of their formulas; not 0: look here. NULL: none
    char *meaning;             // what a high value says to a software developer; "" where the spec has none
    int parent;                // the metric above it in the tree; -1: none
    enum metric_constraint constraint;
    double rate_threshold; // numerator a second on the whole host that needs a cause; 0: none
    char *rate_advice;     // what to look for above it; "" where there is none
};

// What the methodology says to look at next where a metric is high: metrics and metric groups, by name.
struct catalog_node {
    unsigned metric;
    bool root;
    char **next;
    size_t n_next;
};

struct catalog_group {
    char *name;
    char *title, *help;
    unsigned *metrics; // each once
    size_t n_metrics;
};

// The level-1 split: all pipeline slots, and the metrics that share them out.
struct catalog_level1 {
    bool present;
    char *pipeline_slots_text;
    struct formula *pipeline_slots;
    double width;    // pipeline slots a cycle and core
    bool per_thread; // each hardware thread counts as many, whatever its sibling does: a core's sum is twice that
    size_t n_categories;
    struct {
        enum category category;
        unsigned metric;
    } categories[CATEGORY_N];
    unsigned *metrics; // the categories' and those that these are made of, ascending
    size_t n_metrics;
    size_t n_parts; // event groups to measure it with where it does not fit the counters; 0: it cannot be split
    struct {
        unsigned events[CATALOG_SPLIT_EVENTS_MAX];
        size_t n;
    } parts[CATALOG_SPLIT_MAX]; // at least one event is in every part: the others are scaled by it
};

// Who a spec is for. Strings are owned; none is NULL.
struct catalog_product {
    char *spec; // the spec's own name: its file's, without .json
    char *vendor, *name, *microarchitecture;
    char *pmu; // the kernel's PMU: a name, or a prefix ending in '*'
};

// A register that several events program and that a physical core has few of (Intel's OFFCORE_RESPONSE MSRs).
struct catalog_register {
    char *term;      // of the PMU's format: its value is the register's
    unsigned values; // different ones at once
};

// What events and metrics are called.
struct catalog_names {
    struct name_index events, metrics;
    char **aliases; // other names of events, which `events` leads to them
    size_t n_aliases;
};

struct catalog {
    struct catalog_product product;
    char *pmus[CATALOG_PMUS_MAX]; // [0] is product.pmu
    size_t n_pmus;
    struct event_format *format; // of the core PMU
    unsigned general_counters;   // what the vendor states; 0: events take no counters (software)
    int watchdog_event;          // whose fixed counter the NMI watchdog takes; -1: none
    int duration_event;          // the one of kind EVENT_DURATION; -1: no formula asks for it
    int core_wide_event;         // the one of kind EVENT_CORE_WIDE, likewise
    struct catalog_register registers[EVENT_REGISTERS_MAX]; // event_need.reg - 1
    size_t n_registers;
    unsigned topdown[CATALOG_TOPDOWN_MAX]; // the leader of the PMU's topdown counters, then what groups carry behind it
    size_t n_topdown;
    struct catalog_event *events;
    size_t n_events; // [0] is CATALOG_CPU_SECONDS
    struct catalog_metric *metrics;
    size_t n_metrics;
    struct catalog_group *groups;
    size_t n_groups;
    struct catalog_level1 level1;
    struct catalog_node *nodes;
    size_t n_nodes;
    struct environment_facts environment; // that the formulas are compiled for
    struct catalog_names names;
};

struct catalog *catalog_free(struct catalog *catalog);

// Index, or -1. Groups compare as name_equal says; events and metrics to the letter, but for the function that says
// otherwise. A formula's name is a metric, else an event, to the letter; where there is neither, the same without case.
// Its metric's own name means the event.
int catalog_find_event(const struct catalog *catalog, const char *name);
int catalog_find_event_any_case(const struct catalog *catalog, const char *name, size_t length);
int catalog_find_metric(const struct catalog *catalog, const char *name);
int catalog_find_group(const struct catalog *catalog, const char *name);

// Of all that values depend on: another hash is another version of the spec (or of the vendor's files).
uint64_t catalog_hash(const struct catalog *catalog);

// True where the metric's exported numerator and denominator exist; *k is what their quotient is multiplied with.
bool catalog_metric_ratio(const struct catalog_metric *metric, double *k);

#endif
