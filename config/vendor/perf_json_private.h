// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_VENDOR_PERF_JSON_PRIVATE_H
#define TOPDOWND_CONFIG_VENDOR_PERF_JSON_PRIVATE_H

// What the files of perf_json share. Each calls only those before it: perf_json_item.c collects the entries,
// perf_json_tree.c has the tree of this CPU, perf_json_event.c events, perf_json_metric.c metrics, perf_json_group.c
// groups and level 1, and perf_json.c puts the catalog together.

#include "config/json/json_reader.h"
#include "config/vendor/perf_files.h"
#include "config/vendor/perf_json.h"

enum { PERF_TERMS_MAX = 512, PERF_LIST_MAX = 256, PERF_GROUP_NAME_MAX = 120 };

enum perf_state { PERF_UNREAD, PERF_BEING_READ, PERF_READ, PERF_WRONG };

// Of thousands of entries few are ever used: what names them is kept, the rest is read again where it is needed.
struct perf_item {
    const char *file;
    size_t place;
    const cJSON *value;
    const char *event, *metric, *formula; // NULL: none
    enum perf_state metric_state, event_state;
    bool counts; // says how many counters a unit has
};

// A list of the tree.
struct perf_texts {
    const char **texts;
    size_t n;
};

struct perf_reader {
    const struct perf_json_request *request;
    struct errors *errors;
    struct perf_files files;
    struct json_reader trees_reader;
    cJSON *trees;
    struct json_node root, tree;                             // of trees.json: the whole, and this CPU's
    struct perf_texts slots_groups, sampling_terms, topdown; // of the tree
    const char *pmu;                                         // the core PMU as the files call it
    struct environment environment;
    struct perf_item *items;
    size_t n;
    struct name_index events, metrics; // to items
    struct catalog_builder *builder;
    const struct catalog *catalog; // what it has built so far
    bool report;                   // what the resolver refused is a mistake in the files, not a limit of the host
    int failed;                    // 0 or -ENOMEM
    unsigned depth;                // of metrics that wait for one another
};

// Fills the items and their indexes, and settles which core PMU it is. 0 or -ENOMEM.
int perf_items_collect(struct perf_reader *reader);

// All that an item's entry says.
void perf_item_read(const struct perf_reader *reader, const struct perf_item *item, struct perf_entry *out);

// Settles the tree. Returns 0, -EINVAL, or -ENOENT with the reason in the errors; -ENOMEM.
int perf_tree_choose(struct perf_reader *reader);

// The width of the CPU, from the first row that describes it; 0 where none does.
double perf_tree_width(const struct perf_reader *reader);

// The texts in a list of the tree, NULL where there is none: *n of them, for free().
const char **perf_tree_texts(const struct perf_reader *reader, const char *key, size_t *n);
// A member of an object of the tree; NULL where it is not there.
const char *perf_tree_text(const struct perf_reader *reader, const char *object, const char *key);
// The same, whose key is looked up without regard to case.
const char *perf_tree_text_any(const struct perf_reader *reader, const char *object, const char *key);

// The PMU of a Unit; `out` holds names that are made.
const char *perf_pmu_of_unit(const struct perf_reader *reader, const char *unit, char *out, size_t size);
bool perf_is_core(const struct perf_reader *reader, const char *unit);

// Makes sure that the event which a formula calls `name` is in the catalog. Returns 0, -EINVAL with the reason in
// *fault, -ENOMEM.
int perf_event_resolve(struct perf_reader *reader, const char *name, struct fault *fault);
// The events of all entries; what is wrong is reported.
int perf_events_read(struct perf_reader *reader);

// All metrics of the entries and of the tree.
int perf_metrics_read(struct perf_reader *reader);
// Parents and thresholds, when groups are there.
int perf_metrics_refer(struct perf_reader *reader);

// Groups, stages, the tree of metrics, level 1.
int perf_groups_read(struct perf_reader *reader);

#endif
