// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_CATALOG_H
#define TOPDOWND_CORE_CATALOG_H

// A spec in memory: what a CPU can count and what its vendor derives from it.
//
// Built entry by entry by a loader (config/spec_json.h) or a test; each function checks what it is given, and once
// built a catalog is only read. Everything refers to everything else by index. Variable 0 of every catalog is the time
// measured, CATALOG_CPU_SECONDS: CPU time in seconds, which adds up over CPUs as counts do.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/formula.h"

enum { CATALOG_CPU_SECONDS = 0, CATALOG_EVENTS_MAX = 4096, CATALOG_METRICS_MAX = 4096, CATALOG_GROUPS_MAX = 1024 };
enum { CATALOG_ERROR_MAX = 320, CATALOG_SPLIT_MAX = 8, CATALOG_SPLIT_EVENTS_MAX = 32, CATALOG_MIDRS_MAX = 64 };

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

struct catalog_event {
    char *name;
    char *title;     // in a few words; "" where the spec has none
    uint64_t config; // perf_event_attr.config on the catalog's PMU
    bool fixed;      // has a counter of its own (the cycle counter) beside the general ones
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
    struct formula *formula; // variables are event indexes
    double rate_threshold;   // numerator a second on the whole host that needs a cause; 0: none
    char *rate_advice;       // what to look for above it; "" where there is none
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
    double width; // pipeline slots a cycle and core
    size_t n_categories;
    struct {
        enum category category;
        unsigned metric;
    } categories[CATEGORY_N];
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
    char *pmu;       // the kernel's PMU: a name, or a prefix ending in '*'
    uint32_t *midrs; // Arm cores that it describes (core/identify.h); none twice
    size_t n_midrs;
    bool generic; // for cores of its architecture that no other spec describes
};

struct catalog {
    struct catalog_product product;
    unsigned general_counters; // what the vendor states; 0: events take no counters (software)
    struct catalog_event *events;
    size_t n_events; // [0] is CATALOG_CPU_SECONDS
    struct catalog_metric *metrics;
    size_t n_metrics;
    struct catalog_group *groups;
    size_t n_groups;
    struct catalog_level1 level1;
};

// What a catalog refuses, in words; the caller knows the file.
struct catalog_error {
    char text[CATALOG_ERROR_MAX];
};

// All functions that add: 0 or an index; -EINVAL with *error filled (duplicate, unknown name, bad formula), -ENOMEM.
// Strings are copied.

int catalog_new(const char *spec, const char *vendor, const char *name, const char *microarchitecture, const char *pmu,
                struct catalog **out);
struct catalog *catalog_free(struct catalog *catalog);

// A MIDR_EL1 in full, with the first variant and revision that the spec is for (core/identify.h).
int catalog_add_midr(struct catalog *catalog, uint32_t midr, struct catalog_error *error);
void catalog_set_generic(struct catalog *catalog);

int catalog_add_event(struct catalog *catalog, const char *name, const char *title, uint64_t config,
                      struct catalog_error *error);
int catalog_set_counters(struct catalog *catalog, unsigned general, const char *const *fixed_events, size_t n_fixed,
                         struct catalog_error *error);

struct catalog_metric_text {
    const char *name;                           // required
    const char *export_name;                    // NULL: made from the name, the units and the domain, see docs/specs.md
    const char *title, *help, *units, *formula; // formula required
    double rate_threshold;
    const char *rate_advice;
};
int catalog_add_metric(struct catalog *catalog, const struct catalog_metric_text *text, struct catalog_error *error);
int catalog_add_group(struct catalog *catalog, const char *name, const char *title, const char *help,
                      const char *const *metrics, size_t n_metrics, struct catalog_error *error);

// A group made of the metrics of other groups (stage_1).
int catalog_add_union(struct catalog *catalog, const char *name, const char *const *groups, size_t n_groups,
                      struct catalog_error *error);

int catalog_set_level1(struct catalog *catalog, const char *pipeline_slots, double width, struct catalog_error *error);
int catalog_set_level1_category(struct catalog *catalog, enum category category, const char *metric,
                                struct catalog_error *error);
int catalog_add_level1_part(struct catalog *catalog, const char *const *events, size_t n, struct catalog_error *error);

// To be called last: what only the whole can tell (level 1 is complete, parts share an event and hold all events).
int catalog_check(const struct catalog *catalog, struct catalog_error *error);

// Index, or -1. Groups compare as name_equal says; events and metrics to the letter.
int catalog_find_event(const struct catalog *catalog, const char *name);
int catalog_find_metric(const struct catalog *catalog, const char *name);
int catalog_find_group(const struct catalog *catalog, const char *name);

// True where the metric's exported numerator and denominator exist; *k is what their quotient is multiplied with.
bool catalog_metric_ratio(const struct catalog_metric *metric, double *k);

#endif
