// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_JSON_PRIVATE_H
#define TOPDOWND_CONFIG_VENDOR_PERF_JSON_PRIVATE_H

// Shared by the files of perf_json. Each calls only those before it: perf_json_item.c collects the entries,
// perf_json_tree.c finds the tree of this CPU, perf_json_boxes.c knows what formulas mean for PMUs outside the cores,
// perf_json_event.c adds events, perf_json_metric.c metrics, perf_json_group.c groups and level 1, and perf_json.c
// assembles the catalog.

#include "config/json/json_reader.h"
#include "config/vendor/perf_files.h"
#include "config/vendor/perf_json.h"

enum { PERF_TERMS_MAX = 512, PERF_LIST_MAX = 256, PERF_GROUP_NAME_MAX = 120 };

enum perf_state { PERF_UNREAD, PERF_BEING_READ, PERF_READ, PERF_WRONG };

// Of thousands of entries few are ever used: only their names are kept, the rest is read again on demand.
struct perf_item {
    const char *file;
    size_t place;
    const cJSON *value;
    const char *event, *metric, *formula; // NULL: none
    enum perf_state metric_state, event_state;
    bool counts; // gives a unit's number of counters
    bool listed; // a metric of the boxes
    bool needs_known;
    uint64_t needs; // a metric's PMUs, as a set of perf_json_boxes.c
};

// One of the tree's lists.
struct perf_texts {
    const char **texts;
    size_t n;
};

// PMUs outside the cores that formulas have named so far.
struct perf_named_pmus {
    char pmus[PERF_BOXES_MAX][PERF_PMU_MAX];
    size_t n;
};

struct perf_reader {
    const struct perf_json_request *request;
    struct errors *errors;
    struct perf_files files;
    struct json_reader trees_reader;
    cJSON *trees;
    struct json_node root, tree; // of trees.json: the whole file, and this CPU's tree
    struct perf_texts slots_groups, sampling_terms, topdown, must_count; // the tree's lists
    const char *pmu;                                                     // the core PMU's name in the files
    struct environment environment;
    struct perf_item *items;
    size_t n;
    struct name_index events, metrics; // to items
    struct perf_named_pmus named;
    struct catalog_builder *builder;
    const struct catalog *catalog; // built so far
    bool report;                   // a name that the resolver refuses is a mistake in the files, not a limit of the
                                   // host
    int failed;                    // 0 or -ENOMEM
    unsigned depth;                // of metrics that wait for others
};

// Fills the items and their indexes, and chooses the core PMU. 0 or -ENOMEM.
int perf_items_collect(struct perf_reader *reader);

// Reads all of an item's entry.
void perf_item_read(const struct perf_reader *reader, const struct perf_item *item, struct perf_entry *out);

// Chooses the tree. Returns 0, -EINVAL or -ENOENT with the reason in the errors; -ENOMEM.
int perf_tree_choose(struct perf_reader *reader);

// The width of the CPU, from the first row that describes it; 0 if none does.
double perf_tree_width(const struct perf_reader *reader);

// The *n texts in one of the tree's lists, for free(); NULL if there is none.
const char **perf_tree_texts(const struct perf_reader *reader, const char *key, size_t *n);
// A member of one of the tree's objects; NULL if absent.
const char *perf_tree_text(const struct perf_reader *reader, const char *object, const char *key);
// The same, ignoring the key's case.
const char *perf_tree_text_any(const struct perf_reader *reader, const char *object, const char *key);

// The PMU of a Unit; `out` stores composed names.
const char *perf_pmu_of_unit(const struct perf_reader *reader, const char *unit, char *out, size_t size);
// True for the unit of a core's PMU; NULL is one.
bool perf_is_core_unit(const struct perf_reader *reader, const char *unit);
// True if what formulas and files call so is no PMU of uncore_*.
bool perf_is_named_as_it_is(const struct perf_reader *reader, const char *pmu);
bool perf_is_core(const struct perf_reader *reader, const char *unit);

// Ensures that the event with this name in a formula is in the catalog. Returns 0, -EINVAL with the reason in *fault,
// -ENOMEM.
int perf_event_resolve(struct perf_reader *reader, const char *name, struct fault *fault);
// Adds the events of all entries and reports mistakes.
int perf_events_read(struct perf_reader *reader);

// True if `pmu`, as a formula writes it, means the first of the request's PMUs; *one: of each package only one box.
bool perf_boxes_are(const struct perf_reader *reader, const char *pmu, size_t length, bool *one);
// True if the request's catalog counts events of the PMU, the kernel's name without any number.
bool perf_boxes_have(const struct perf_reader *reader, const char *pmu);
// The name of the group of all metrics of the request's boxes; "" for cores.
void perf_boxes_name(const struct perf_reader *reader, char out[PERF_JOINED_NAME_MAX]);
// The PMUs that a formula needs. False if they are too many.
bool perf_boxes_needed(struct perf_reader *reader, const char *formula, struct perf_json_joined *out);
// Marks the metrics that need an event of each of the request's PMUs, and none of another.
void perf_boxes_list(struct perf_reader *reader);
// A formula with what struct perf_json_boxes says in the place of names, for free(). NULL if out of memory.
char *perf_boxes_formula(const struct perf_reader *reader, const char *formula);

// Adds all metrics of the entries and of the tree.
int perf_metrics_read(struct perf_reader *reader);
// Sets parents and thresholds, once groups exist.
int perf_metrics_refer(struct perf_reader *reader);

// Adds groups, stages, the tree of metrics, and level 1.
int perf_groups_read(struct perf_reader *reader);

#endif
