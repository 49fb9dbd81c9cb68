// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_H
#define TOPDOWND_CORE_SPEC_CATALOG_H

// A spec in memory: what a CPU can count and what its vendor derives from it.
//
// Built entry by entry by a loader (config/spec/spec_json.h, config/vendor/perf_json.h) or a test; each function checks
// what it is given, and once built a catalog is only read. Everything refers to everything else by index. Event 0 of
// every catalog is the time measured, CATALOG_CPU_SECONDS: CPU time in seconds, which adds up over CPUs as counts do.
//
// A metric may use others. One that is a ratio is used by its value, which may come from other windows; one that is a
// count is put in place, so that its events are counted together with the rest (core/formula/formula.h, scale_free). A
// metric is added after those it uses, so evaluating in order of index is always right; a loader that reads them in
// another order sets a resolver, which is asked for every name first. That goes CATALOG_DEPTH_MAX metrics deep; in
// order there is no such bound.

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
enum { CATALOG_SPLIT_MAX = 8, CATALOG_SPLIT_EVENTS_MAX = 32 };
enum { CATALOG_PMUS_MAX = 64, CATALOG_RESIDENT_MAX = 24, CATALOG_DEPTH_MAX = 64 };

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

struct catalog_resolver;

struct catalog_event {
    enum catalog_event_kind kind;
    char *name;
    char *title;           // in a few words; "" where the spec has none
    char *terms;           // what perf would write: "event=0xc2,umask=0x01"
    struct pmu_event code; // these terms in the format of their PMU
    char *uncoded; // why no format known makes numbers of them, an event of another PMU's; NULL: `code` has them
    struct event_need need; // of counters
    bool fixed;             // has a counter of its own (the cycle counter) beside the general ones
    bool resident;          // counts all the time, beside the rotating event groups
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
    double constant;           // of an unmeasurable one: what it is worth on every CPU of this host; NaN: nothing known
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

// The format of a PMU other than the core's, as far as it is known without a host.
struct catalog_pmu_format {
    char *pmu; // its name, or where several are alike a prefix ending in '*'
    struct event_format *format;
};

struct catalog {
    struct catalog_product product;
    char *pmus[CATALOG_PMUS_MAX]; // [0] is product.pmu
    size_t n_pmus;
    struct event_format *format;            // of the core PMU
    struct catalog_pmu_format *pmu_formats; // the first that names a PMU is its
    size_t n_pmu_formats;
    unsigned general_counters; // what the vendor states; 0: events take no counters (software)
    int watchdog_event;        // whose fixed counter the NMI watchdog takes; -1: none
    int duration_event;        // the one of kind EVENT_DURATION; -1: no formula asks for it
    int core_wide_event;       // the one of kind EVENT_CORE_WIDE, likewise
    struct catalog_register registers[EVENT_REGISTERS_MAX]; // event_need.reg - 1
    size_t n_registers;
    unsigned resident[CATALOG_RESIDENT_MAX]; // events of the resident group, its leader first
    size_t n_resident;
    struct catalog_event *events;
    size_t n_events; // [0] is CATALOG_CPU_SECONDS
    char **aliases;  // other names of events, which event_index leads to them
    size_t n_aliases;
    struct catalog_metric *metrics;
    size_t n_metrics;
    struct catalog_group *groups;
    size_t n_groups;
    struct catalog_level1 level1;
    struct catalog_level1 level1_without_resident; // where the resident group cannot be had
    struct catalog_node *nodes;
    size_t n_nodes;
    struct environment environment;          // that the formulas are compiled for
    const struct catalog_resolver *resolver; // while it is being loaded
    unsigned depth;                          // metrics that are being added, each for the one before
    struct name_index event_index, metric_index, export_index;
};

// All functions that add: 0 or an index; -EINVAL with *fault filled (duplicate, unknown name, bad formula), -ENOMEM.
// Strings are copied.

int catalog_new(const char *spec, const char *vendor, const char *name, const char *microarchitecture, const char *pmu,
                struct catalog **out);
struct catalog *catalog_free(struct catalog *catalog);

// Before anything else is added, where it is not environment_init's.
void catalog_set_environment(struct catalog *catalog, const struct environment *environment);

// Asked for each name of a formula before it is looked up: adds the metric or the event of that name if it is not there
// yet. Returns 0 (there may still be no such name), -EINVAL with *fault filled, -ENOMEM, -ELOOP where the metric is
// being added already. Borrowed until the last metric is added; NULL: none.
struct catalog_resolver {
    int (*resolve)(void *context, const char *name, struct fault *fault);
    void *context;
};
void catalog_set_resolver(struct catalog *catalog, const struct catalog_resolver *resolver);

// A field of the core PMU's format (core/spec/event_format.h), before the events. Without one, codes are config itself.
int catalog_add_format(struct catalog *catalog, const char *field, const char *bits, struct fault *fault);

// A field of the format of another PMU, or of several with a '*' at the end of `pmu`. Before the events, too.
int catalog_add_pmu_format(struct catalog *catalog, const char *pmu, const char *field, const char *bits,
                           struct fault *fault);
bool catalog_has_pmu_format(const struct catalog *catalog, const char *pmu); // under this very name
int catalog_add_register(struct catalog *catalog, const char *term, unsigned values, struct fault *fault);

struct catalog_event_text {
    const char *name;  // required
    const char *title; // may be NULL
    const char *terms; // required, as perf writes them
    const char *pmu;   // NULL: the core PMU; else config is the term `event` until a format is known
    uint64_t counters; // general counters that can count it, a bit each; 0: all
    unsigned takes;    // general counters at once; 0: none (a field of PERF_METRICS)
    unsigned fixed;    // 1 + the number of the fixed counter that counts it; 0: none, or said by catalog_set_counters
    bool sampling_only;
};
int catalog_add_event_text(struct catalog *catalog, const struct catalog_event_text *text, struct fault *fault);

// Another name for an event, in formulas and for catalog_find_event.
int catalog_add_alias(struct catalog *catalog, const char *name, unsigned event, struct fault *fault);

// An event of the core PMU whose code is config itself.
int catalog_add_event(struct catalog *catalog, const char *name, const char *title, uint64_t config,
                      struct fault *fault);
int catalog_set_counters(struct catalog *catalog, unsigned general, const char *const *fixed_events, size_t n_fixed,
                         struct fault *fault);
int catalog_set_watchdog(struct catalog *catalog, const char *fixed_event, struct fault *fault);

// The events of the resident group, of the core PMU, its leader first. Once.
int catalog_set_resident(struct catalog *catalog, const char *const *events, size_t n, struct fault *fault);

// Encodes the events of a PMU again, in the host's own format. An event that it cannot encode is left as it is, and
// cannot[event] is set (an array of n_events, borrowed). 0 or -ENOMEM.
int catalog_encode(struct catalog *catalog, unsigned pmu, const struct event_format *format, bool *cannot);

// Measures level 1 without the resident group from now on, where the spec knows how: else there is no level 1. Its
// events are like any others then; which of them the host does not have is for the plan's request to say. Before any
// plan is made. Without a resident group nothing changes.
void catalog_drop_resident(struct catalog *catalog);

struct catalog_metric_text {
    const char *name;                           // required
    const char *export_name;                    // NULL: made from the name, the units and the domain, see docs/specs.md
    const char *title, *help, *units, *formula; // formula required
    const char *meaning, *parent;               // may be NULL; the parent is set when all metrics are there
    enum metric_constraint constraint;
    double export_scale; // 0: by the units
    double rate_threshold;
    const char *rate_advice;
};
int catalog_add_metric(struct catalog *catalog, const struct catalog_metric_text *text, struct fault *fault);

// The same with a formula that cannot be compiled, or not measured anywhere: kept with the reason, for those who look
// for it. Where the environment makes the formula a number (0 for a memory that the host does not have), others may use
// it.
int catalog_add_unmeasurable(struct catalog *catalog, const struct catalog_metric_text *text, const char *reason,
                             struct fault *fault);

// Makes a metric unmeasurable that has just been added, before another one uses it.
int catalog_set_unmeasurable(struct catalog *catalog, unsigned metric, const char *reason);

// When all metrics are there: what refers to others that may come later.
int catalog_set_parent(struct catalog *catalog, unsigned metric, const char *parent, struct fault *fault);
int catalog_set_threshold(struct catalog *catalog, unsigned metric, const char *text, struct fault *fault);
int catalog_add_node(struct catalog *catalog, const char *metric, bool root, const char *const *next, size_t n_next,
                     struct fault *fault);

int catalog_add_group(struct catalog *catalog, const char *name, const char *title, const char *help,
                      const char *const *metrics, size_t n_metrics, struct fault *fault);

// A group made of the metrics of other groups (stage_1).
int catalog_add_union(struct catalog *catalog, const char *name, const char *const *groups, size_t n_groups,
                      struct fault *fault);

// `level1` is &catalog->level1 or &catalog->level1_without_resident.
int catalog_set_level1(struct catalog *catalog, struct catalog_level1 *level1, const char *pipeline_slots, double width,
                       struct fault *fault);
int catalog_set_level1_category(struct catalog *catalog, struct catalog_level1 *level1, enum category category,
                                const char *metric, struct fault *fault);
int catalog_add_level1_part(struct catalog *catalog, struct catalog_level1 *level1, const char *const *events, size_t n,
                            struct fault *fault);

// Leaves out of the split what level 1 does not need on this host: its formulas are compiled for it.
void catalog_trim_level1_split(const struct catalog *catalog, struct catalog_level1 *level1);

// The same, and true where the parts are a split: two or more that share an event, hold all that level 1 needs, and
// nothing of the resident group. Else there are none any more.
bool catalog_keep_level1_split(const struct catalog *catalog, struct catalog_level1 *level1);

// To be called last: what only the whole can tell (level 1 is complete, parts share an event and hold all events).
int catalog_check(const struct catalog *catalog, struct fault *fault);

// Index, or -1. Groups compare as name_equal says; events and metrics to the letter. A formula's name is a metric, else
// an event, to the letter; where there is neither, the same without case. Its metric's own name means the event.
int catalog_find_event(const struct catalog *catalog, const char *name);
int catalog_find_metric(const struct catalog *catalog, const char *name);
int catalog_find_group(const struct catalog *catalog, const char *name);

// Of all that values depend on: another hash is another version of the spec (or of the vendor's files).
uint64_t catalog_hash(const struct catalog *catalog);

// True where the metric's exported numerator and denominator exist; *k is what their quotient is multiplied with.
bool catalog_metric_ratio(const struct catalog_metric *metric, double *k);

#endif
