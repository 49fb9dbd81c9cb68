// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_BUILDER_PRIVATE_H
#define TOPDOWND_CORE_SPEC_CATALOG_BUILDER_PRIVATE_H

// Shared by the files of catalog_builder.h. Each calls only those below it: catalog_builder.c begins and finishes,
// catalog_builder_level1.c and catalog_builder_metric.c compile with catalog_builder_formula.c, which adds events with
// catalog_builder_event.c; catalog_builder_group.c adds metric groups and the methodology.

#include "core/spec/catalog_builder.h"
#include "core/spec/catalog_entry.h"

// The format of a PMU other than the core's, as known without a host.
struct builder_pmu_format {
    char *pmu; // its name, or a prefix ending in '*' for several
    struct event_format *format;
};

struct catalog_builder {
    struct catalog *catalog;
    struct environment environment;                 // for which the formulas are compiled
    const struct catalog_resolver *resolver;        // while metrics are added; NULL: none
    unsigned depth;                                 // metrics being added, each for the one before
    struct builder_pmu_format *pmu_formats;         // the first that matches a PMU applies
    size_t n_pmu_formats;                           // at most CATALOG_PMUS_MAX
    uint64_t exclusive[CATALOG_EXCLUSIVE_MAX / 64]; // codes of exclusive events, one bit each
    struct name_index export_index;                 // of metrics
    struct catalog_level1 without_topdown;          // level 1 of hosts that lack the topdown counters
};

// Appends an event of any kind; the caller has checked the name. Returns the index, or -ENOMEM.
int builder_append_event(struct catalog_builder *builder, const struct catalog_event_text *text,
                         enum catalog_event_kind kind);

// Adds an event with modifiers, "NAME:u" or "pmu@terms@u", based on the event without them. Returns the index, -ENOENT
// if it is no such name, -ENOMEM.
int builder_add_modified(struct catalog_builder *builder, const char *name);

// Compiles a formula over the events and metrics added so far. For the formula of a metric, `self` is its name, and the
// formula must name an event or a metric; builder_compile_threshold: metrics stand for their values.
int builder_compile(struct catalog_builder *builder, const char *text, const char *self, struct formula **out,
                    struct fault *fault);
int builder_compile_threshold(struct catalog_builder *builder, const char *text, struct formula **out,
                              struct fault *fault);

// Makes the formula of an unmeasurable metric, which has no value. 0 or -ENOMEM.
int builder_compile_nothing(struct formula **out);

// Finds what the steps of the decision tree name, once the catalog has all of it.
void builder_resolve_steps(struct catalog *catalog);

// The metric of this name; -1: none. An alternative has no name of its own: the plan chooses it.
static inline int builder_find_metric(const struct catalog *catalog, const char *name) {
    int metric = catalog_find_metric(catalog, name);
    return metric >= 0 && catalog->metrics[metric].stands_for >= 0 ? -1 : metric;
}

#endif
