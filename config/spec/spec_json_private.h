// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_SPEC_JSON_PRIVATE_H
#define TOPDOWND_CONFIG_SPEC_SPEC_JSON_PRIVATE_H

// What the files of spec_json share. spec_json.c reads a document, its product, groups and methodology, and calls
// spec_json_event.c for events and counters and spec_json_metric.c for metrics; spec_json_common.c has what all three
// call.

#include <stdint.h>

#include "config/json/json_reader.h"
#include "core/spec/catalog_builder.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SPEC_LIST_MAX = CATALOG_METRICS_MAX };

// Events that stand in the file and that no PMU counts: a metric that names one deserves to be told so.
struct uncountable {
    const char **names;
    size_t n;
};

struct spec_reader {
    struct json_reader reader;
    const struct environment *environment;
    struct catalog_builder *builder;
    const struct catalog *catalog; // what it has built so far
    struct uncountable uncountable;
};

// Builds a catalog of a document that it takes over, NULL where there is none. Returns 0, -EINVAL with the reason in
// the reader's errors, -ENOMEM.
int spec_read(struct spec_reader *spec, cJSON *document, struct catalog_builder **out);

// Finishes what a reader that returned `r` has built. Returns r.
int spec_finish(int r, struct catalog_builder *builder, struct catalog **out);

// Takes over the result of a catalog function: what the catalog refuses is an error at `node`.
void spec_take(const struct json_node *node, int result, const struct fault *fault);

// Keeps of `names` those that `find` has an index for, and tells of the others at `at`. Returns how many it has kept.
size_t spec_known_names(const struct spec_reader *spec, const struct json_node *at, const char **names, size_t n,
                        int (*find)(const struct catalog *catalog, const char *name));

// "0x0004" or "4".
bool spec_parse_code(const char *text, uint64_t *code);

// `ours` is the topdownd object, whose value may be absent.
void spec_read_format(struct spec_reader *spec, const struct json_node *root, const struct json_node *ours);
void spec_read_events(struct spec_reader *spec, const struct json_node *root);
void spec_read_counters(struct spec_reader *spec, const struct json_node *ours);
void spec_read_metrics(struct spec_reader *spec, const struct json_node *root);

#endif
