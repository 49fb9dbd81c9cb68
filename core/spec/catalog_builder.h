// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_BUILDER_H
#define TOPDOWND_CORE_SPEC_CATALOG_BUILDER_H

// Builds a catalog (core/spec/catalog.h), entry by entry: for a loader (config/spec/spec_json.h,
// config/vendor/perf_json.h), for the host that the catalog is bound to (collectors/host/host_bind.h), and for tests.
// Each function checks its input. The entries built so far can be read; catalog_builder_finish hands the catalog out,
// and then it never changes.
//
// Order matters: environment, formats and registers first, then events, then entries that refer to events (counters,
// metrics), then entries that refer to metrics. A metric is added after those that it uses. A loader that reads them in
// another order sets a resolver, which the builder asks for every name first; this works up to CATALOG_DEPTH_MAX
// metrics deep. Metrics added in order have no such limit.

#include "core/spec/catalog.h"

enum { CATALOG_DEPTH_MAX = 64, CATALOG_EXCLUSIVE_MAX = 256 };

struct catalog_builder;

int catalog_builder_new(const char *spec, const char *vendor, const char *name, const char *microarchitecture,
                        const char *pmu, struct catalog_builder **out); // 0 or -ENOMEM
struct catalog_builder *catalog_builder_free(struct catalog_builder *builder);

// Frees the builder. The caller owns the catalog; free it with catalog_free.
struct catalog *catalog_builder_finish(struct catalog_builder *builder);

// The catalog built so far; it changes with the builder.
const struct catalog *catalog_builder_catalog(const struct catalog_builder *builder);

// All functions that add or set return 0 or an index; -EINVAL with *fault filled (duplicate, unknown name, bad
// formula), -ENOMEM. Strings are copied.

// Replaces environment_init's environment. The context of its has_event must exist until the last metric is added.
void catalog_builder_set_environment(struct catalog_builder *builder, const struct environment *environment);

// Called for each name of a formula before its lookup: adds the metric or event of that name unless it exists. Returns
// 0 (there may still be no such name), -EINVAL with *fault filled, -ENOMEM, -ELOOP if the metric is already being
// added. Borrowed until the last metric is added; NULL: none.
struct catalog_resolver {
    int (*resolve)(void *context, const char *name, struct fault *fault);
    void *context;
};
void catalog_builder_set_resolver(struct catalog_builder *builder, const struct catalog_resolver *resolver);

// A field of the core PMU's format (core/spec/event_format.h), before the events. Without any, codes are config itself.
int catalog_builder_add_format(struct catalog_builder *builder, const char *field, const char *bits,
                               struct fault *fault);

// A field of the format of another PMU, or of several if `pmu` ends in '*'. Before the events, too.
int catalog_builder_add_pmu_format(struct catalog_builder *builder, const char *pmu, const char *field,
                                   const char *bits, struct fault *fault);
bool catalog_builder_has_pmu_format(const struct catalog_builder *builder, const char *pmu); // under exactly this name
int catalog_builder_add_register(struct catalog_builder *builder, const char *term, unsigned values,
                                 struct fault *fault);

// Makes events of the core PMU whose term `event` has this value, below CATALOG_EXCLUSIVE_MAX, exclusive
// (core/spec/event_need.h). Before the events.
int catalog_builder_add_exclusive(struct catalog_builder *builder, uint64_t code, struct fault *fault);

struct catalog_event_text {
    const char *name;  // required
    const char *title; // may be NULL
    const char *terms; // required, in perf's form
    const char *pmu;   // NULL: the core PMU. For others config is the term `event` until a format is known
    uint64_t counters; // general counters that can count it, one bit each; 0: all
    unsigned takes;    // general counters at once; 0: none (a field of PERF_METRICS)
    unsigned fixed;    // 1 + the number of its fixed counter; 0: none, or set by catalog_builder_set_counters
    bool sampling_only;
    bool beside;            // of a PMU that is counted with the first one, and takes counters as its events do
    bool must_count;        // in any busy second of any CPU of the spec
    bool may_be_zero;       // as specs of earlier versions say: a count which stays 0 is true
    const char *known_dead; // why this CPU does not count it, or not rightly, and who says so; NULL: not so
};
int catalog_builder_add_event_text(struct catalog_builder *builder, const struct catalog_event_text *text,
                                   struct fault *fault);

// An event as another catalog has it: encoded, with what it needs, of any kind. pmu: as above. Topdown events are set
// later.
int catalog_builder_add_event_as(struct catalog_builder *builder, const struct catalog_event *event, const char *pmu,
                                 struct fault *fault);

// Sets or clears the mark may_be_zero of events of these names; names == NULL: of all. It is part of the catalog's
// hash, and earlier versions' specs had it: so the catalog becomes that of a recording which such a version has made.
void catalog_builder_set_may_be_zero(struct catalog_builder *builder, const char *const *names, size_t n, bool mark);

// For a catalog that nobody uses so far: a 0 is believed of nothing but what may be zero, as in versions whose specs
// did not say what must count. So what such a version recorded is shown as it was then.
void catalog_doubt_zeros(struct catalog *catalog);

// Another name for an event, in formulas and for catalog_find_event.
int catalog_builder_add_alias(struct catalog_builder *builder, const char *name, unsigned event, struct fault *fault);

// An event of the core PMU whose code is config itself.
int catalog_builder_add_event(struct catalog_builder *builder, const char *name, const char *title, uint64_t config,
                              struct fault *fault);
int catalog_builder_set_counters(struct catalog_builder *builder, unsigned general, const char *const *fixed_events,
                                 size_t n_fixed, struct fault *fault);
// The most events that the PMU's driver takes in one group.
void catalog_builder_set_group_events(struct catalog_builder *builder, unsigned n);
// The configuration names the events, of a PMU that no spec knows.
void catalog_builder_set_chosen(struct catalog_builder *builder);
int catalog_builder_set_watchdog(struct catalog_builder *builder, const char *fixed_event, struct fault *fault);

// Sets the leader of the PMU's topdown counters, then the events that groups carry after it (core/plan/plan_lead.h),
// all of the core PMU. Call it once.
int catalog_builder_set_topdown(struct catalog_builder *builder, const char *const *events, size_t n,
                                struct fault *fault);

struct catalog_metric_text {
    const char *name;                           // required
    const char *vendor;                         // NULL: the product's
    const char *export_name;                    // NULL: derived from name, units and domain, see docs/specs.md
    const char *title, *help, *units, *formula; // formula required
    const char *meaning, *parent;               // may be NULL; the parent is set once all metrics exist
    const char *definition;                     // a key of a-z, 0-9 and _; may be NULL
    enum metric_constraint constraint;
    enum catalog_waits waits;
    double export_scale; // 0: from the units
    double made_scale;   // that of a metric in another catalog, whatever its units say; 0: from the two above
    double rate_threshold;
    const char *rate_advice;
};
int catalog_builder_add_metric(struct catalog_builder *builder, const struct catalog_metric_text *text,
                               struct fault *fault);

// Adds another definition of a metric, after its other ones and before any metric that uses it. `text` has its formula
// and definition; the name is the metric's, a full stop and the definition. What else it lacks is the metric's. Returns
// its index, -EINVAL with the reason, or -ENOMEM.
int catalog_builder_add_alternative(struct catalog_builder *builder, unsigned metric,
                                    const struct catalog_metric_text *text, struct fault *fault);

// Adds a metric with a formula that cannot be compiled or measured anywhere: listed with the reason.
int catalog_builder_add_unmeasurable(struct catalog_builder *builder, const struct catalog_metric_text *text,
                                     const char *reason, struct fault *fault);

// Makes the metric added last unmeasurable, before another one uses it.
int catalog_builder_set_unmeasurable(struct catalog_builder *builder, unsigned metric, const char *reason);

// Once all metrics exist: references to metrics that may come later.
int catalog_builder_set_parent(struct catalog_builder *builder, unsigned metric, const char *parent,
                               struct fault *fault);
int catalog_builder_set_threshold(struct catalog_builder *builder, unsigned metric, const char *text,
                                  struct fault *fault);
// Once all parents are set: `sibling` counts all that the metric counts, and more (struct catalog_metric.included_in).
// Neither does what is included include another. Returns 0, or -EINVAL with the reason.
int catalog_builder_set_included(struct catalog_builder *builder, unsigned metric, const char *sibling,
                                 struct fault *fault);
// The metric tells this traffic (core/spec/traffic.h), which no other one does. Returns 0, or -EINVAL with the reason.
int catalog_builder_set_traffic(struct catalog_builder *builder, unsigned metric, const char *traffic,
                                struct fault *fault);
int catalog_builder_add_node(struct catalog_builder *builder, const char *metric, bool root, const char *const *next,
                             size_t n_next, struct fault *fault);

// Adds an event whose samples show the code behind this node, CATALOG_SAMPLES_MAX at most. Returns 0, -EINVAL with the
// reason, or -ENOMEM.
int catalog_builder_add_sample(struct catalog_builder *builder, unsigned node, const char *event, struct fault *fault);

int catalog_builder_add_group(struct catalog_builder *builder, const char *name, const char *title, const char *help,
                              const char *const *metrics, size_t n_metrics, struct fault *fault);

// Adds a group of the metrics of other groups (stage_1).
int catalog_builder_add_union(struct catalog_builder *builder, const char *name, const char *const *groups,
                              size_t n_groups, struct fault *fault);

// Sets what a heading of what would help how much comes to, once (core/spec/bottleneck.h): a formula over the values of
// metrics. Returns 0, -EINVAL with the reason, or -ENOMEM.
int catalog_builder_set_bottleneck(struct catalog_builder *builder, enum bottleneck heading, const char *formula,
                                   struct fault *fault);
// Sets when useful work, where it is high, is done well, once: a formula over the values of metrics. Returns likewise.
int catalog_builder_set_computes_well(struct catalog_builder *builder, const char *formula, struct fault *fault);
// Adds the group of all that the headings are made of (BOTTLENECK_GROUP), if there are any.
int catalog_builder_add_bottleneck_group(struct catalog_builder *builder, struct fault *fault);

// Sets the metric groups that the spec recommends for every host, once. Returns 0, or -EINVAL with the reason.
int catalog_builder_set_defaults(struct catalog_builder *builder, const char *const *groups, size_t n,
                                 struct fault *fault);

// A spec may describe level 1 twice: the usual one, and one for hosts that lack the topdown counters.
enum level1_variant { LEVEL1_USUAL, LEVEL1_WITHOUT_TOPDOWN };

struct catalog_level1_text {
    const char *pipeline_slots;         // formula
    double width;                       // 0: not known
    const char *thread[THREAD_SLOTS_N]; // formulas; NULL: the PMU sees the whole core
};
int catalog_builder_set_level1(struct catalog_builder *builder, enum level1_variant variant,
                               const struct catalog_level1_text *text, struct fault *fault);
int catalog_builder_set_category(struct catalog_builder *builder, enum level1_variant variant, enum category category,
                                 const char *metric, struct fault *fault);
int catalog_builder_add_part(struct catalog_builder *builder, enum level1_variant variant, const char *const *events,
                             size_t n, struct fault *fault);

// Removes from the splits the events that level 1, whose formulas are compiled for this host, does not need.
void catalog_builder_trim_splits(struct catalog_builder *builder);

// The same for the usual level 1. Returns true if its parts form a split: at least two, which share an event, contain
// all that level 1 needs, and contain no topdown event. Otherwise removes them.
bool catalog_builder_keep_split(struct catalog_builder *builder);

// Checks what needs the whole catalog: level 1 is complete, parts share an event and contain all events.
int catalog_builder_check(const struct catalog_builder *builder, struct fault *fault);

// ---- binding to a host ----

// Encodes the events of a PMU again, in the host's own format. An event that the format cannot encode stays as it is,
// and cannot[event] is set (an array of n_events, borrowed). 0 or -ENOMEM.
int catalog_builder_encode(struct catalog_builder *builder, unsigned pmu, const struct event_format *format,
                           bool *cannot);

// Makes level 1 do without the topdown counters, if the spec describes how; else there is no level 1. The topdown
// events become ordinary events; the plan's request tells which of them the host lacks. Without topdown events nothing
// changes.
void catalog_builder_drop_topdown(struct catalog_builder *builder);

#endif
