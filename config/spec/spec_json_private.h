// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_SPEC_JSON_PRIVATE_H
#define TOPDOWND_CONFIG_SPEC_SPEC_JSON_PRIVATE_H

// Shared by the files of spec_json. spec_json.c reads a document, its product, groups and methodology; it calls
// spec_json_event.c for events and counters, spec_json_compose.c for events that are composed, which calls
// spec_json_event.c too, and spec_json_metric.c for metrics; all call spec_json_common.c.

#include <stdint.h>

#include "config/json/json_reader.h"
#include "core/spec/catalog_builder.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SPEC_LIST_MAX = CATALOG_METRICS_MAX, SPEC_TERMS_MAX = 512, SPEC_DEAD_MAX = 400, SPEC_ALTERNATIVES_MAX = 8 };

// Events in the file that no PMU counts, for a clear message about a metric that names one.
struct uncountable {
    const char **names;
    size_t n;
};

struct spec_reader {
    struct json_reader reader;
    const struct environment *environment;
    struct catalog_builder *builder;
    const struct catalog *catalog; // built so far
    const char *pmu;               // of events that name none; NULL: the core PMU
    const char *code_term;         // the term that an event's code fills; NULL: "event"
    const char *vendor;            // of metrics; NULL: the product's
    struct uncountable uncountable;
};

// Builds a catalog from a document, of which it takes ownership; NULL if there is none. Returns 0, -EINVAL with the
// reason in the reader's errors, -ENOMEM.
int spec_read(struct spec_reader *spec, cJSON *document, struct catalog_builder **out);

// Finishes the catalog of a reader that returned `r`. Returns r.
int spec_finish(int r, struct catalog_builder *builder, struct catalog **out);

// Handles the result of a catalog function: a refusal becomes an error at `node`.
void spec_take(const struct json_node *node, int result, const struct fault *fault);

// Keeps the `names` that `find` knows and reports the others at `at`. Returns the number kept.
size_t spec_known_names(const struct spec_reader *spec, const struct json_node *at, const char **names, size_t n,
                        int (*find)(const struct catalog *catalog, const char *name));

// "0x0004" or "4".
bool spec_parse_code(const char *text, uint64_t *code);

// Memory for texts that are composed of what an event says.
struct spec_event_texts {
    char terms[SPEC_TERMS_MAX], known_dead[SPEC_DEAD_MAX];
};

// Reads what an event says of itself. False if it has no code.
bool spec_read_event(struct spec_reader *spec, const struct json_node *event, struct catalog_event_text *text,
                     struct spec_event_texts *texts);

// `ours` is the topdownd object, which may be absent.
void spec_read_format(struct spec_reader *spec, const struct json_node *root, const struct json_node *ours);
void spec_read_events(struct spec_reader *spec, const struct json_node *root);
void spec_compose_events(struct spec_reader *spec, const struct json_node *ours);
void spec_read_counters(struct spec_reader *spec, const struct json_node *ours);
void spec_read_metrics(struct spec_reader *spec, const struct json_node *root);
void spec_read_groups(struct spec_reader *spec, const struct json_node *root);

#endif
