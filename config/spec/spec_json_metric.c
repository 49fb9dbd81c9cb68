// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/spec/spec_json_private.h"

// Metrics. A metric may use another that comes later in the file, so each is added when the first formula needs it
// (struct catalog_resolver); circular references are refused. Parents and thresholds may refer to any metric and are
// set once all exist.

enum metric_state { METRIC_UNREAD, METRIC_BEING_READ, METRIC_READ, METRIC_WRONG };

struct metric_reader {
    struct spec_reader *spec;
    const struct json_node *metrics; // the object with the metrics
    const cJSON **values;            // in order of the file
    uint8_t *states;                 // enum metric_state
    size_t n;
    struct name_index names; // to their indexes
};

static const char *suggest_event(const struct catalog *catalog, const char *name) {
    const char **names = calloc(catalog->n_events, sizeof *names), *near = NULL;
    for (size_t i = 0; names && i < catalog->n_events; i++)
        names[i] = catalog->events[i].name;
    if (names)
        near = error_suggest(name, names, catalog->n_events);
    free(names);
    return near;
}

static int fail_unknown(const struct spec_reader *spec, const char *name, struct fault *fault) {
    for (size_t i = 0; i < spec->uncountable.n; i++)
        if (strcmp(spec->uncountable.names[i], name) == 0)
            return fault_set_kind(fault, FAULT_EVENT, 0,
                                  "needs the event %.100s, which no PMU counts (its accesses do not list \"PMU\")",
                                  name);
    const char *near = suggest_event(spec->catalog, name);
    return fault_set_kind(fault, FAULT_EVENT, 0, "needs the event %.100s, which is not among the events%s%.60s%s", name,
                          near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static void read_metric(struct metric_reader *reader, size_t i);

// struct catalog_resolver
static int resolve(void *context, const char *name, struct fault *fault) {
    struct metric_reader *reader = context;
    const struct catalog *catalog = reader->spec->catalog;
    int i = name_index_find(&reader->names, name, strlen(name), false);
    if (i < 0 && catalog_find_event(catalog, name) >= 0)
        return 0;
    if (i < 0)
        i = name_index_find(&reader->names, name, strlen(name), true);
    if (i < 0 && (catalog_find_event_any_case(catalog, name, strcspn(name, ":")) >= 0 || catalog_is_special_name(name)))
        return 0;
    if (i < 0)
        return fail_unknown(reader->spec, name, fault);
    if (reader->states[i] == METRIC_UNREAD)
        read_metric(reader, (size_t)i);
    if (reader->states[i] == METRIC_READ)
        return 0;
    return fault_set(fault, "uses the metric %.100s, which %s", name,
                     reader->states[i] == METRIC_BEING_READ ? "leads back to itself" : "is wrong");
}

static enum metric_constraint constraint_of(const struct json_node *ours) {
    static const char *const names[] = {"", "NO_GROUP_EVENTS", "NO_GROUP_EVENTS_NMI", "NO_GROUP_EVENTS_SMT",
                                        "NO_THRESHOLD_AND_NMI"};
    const char *name;
    if (!json_get_text(ours, "constraint", JSON_OPTIONAL, &name))
        return CONSTRAINT_NONE;
    for (unsigned i = 1; i < COUNT(names); i++)
        if (strcmp(names[i], name) == 0)
            return (enum metric_constraint)i;
    json_fail_suggest(ours, name, names + 1, COUNT(names) - 1, "there is no such constraint");
    return CONSTRAINT_NONE;
}

static enum catalog_waits waits_of(const struct json_node *ours) {
    const char *names[WAITS_N], *name;
    if (!json_get_text(ours, "waits_for", JSON_OPTIONAL, &name))
        return WAITS_NONE;
    for (unsigned i = WAITS_NONE + 1; i < WAITS_N; i++) {
        names[i] = catalog_waits_name((enum catalog_waits)i);
        if (strcmp(names[i], name) == 0)
            return (enum catalog_waits)i;
    }
    json_fail_suggest(ours, name, names + 1, WAITS_N - 1, "nothing that can be waited for has this name");
    return WAITS_NONE;
}

static void read_ours(const struct json_node *metric, struct catalog_metric_text *text) {
    static const char *const keys[] = {"name",         "definition", "meaning",        "parent",
                                       "threshold",    "constraint", "rate_threshold", "rate_advice",
                                       "alternatives", "traffic",    "waits_for",      "included_in"};
    struct json_node ours;
    if (!json_get_object(metric, "topdownd", JSON_OPTIONAL, &ours))
        return;
    json_check_keys(&ours, keys, COUNT(keys));
    (void)json_get_text(&ours, "name", JSON_OPTIONAL, &text->export_name);
    (void)json_get_text(&ours, "definition", JSON_OPTIONAL, &text->definition);
    (void)json_get_text(&ours, "meaning", JSON_OPTIONAL, &text->meaning);
    (void)json_get_number(&ours, "rate_threshold", JSON_OPTIONAL, 0, 1e15, &text->rate_threshold);
    (void)json_get_text(&ours, "rate_advice", JSON_OPTIONAL, &text->rate_advice);
    text->constraint = constraint_of(&ours);
    text->waits = waits_of(&ours);
}

static void read_alternative(struct spec_reader *spec, const struct json_node *alternative, unsigned metric) {
    static const char *const keys[] = {"formula", "definition", "title", "description"};
    struct catalog_metric_text text = {.name = NULL};
    struct fault fault;
    if (!json_is_object(alternative))
        return;
    json_check_keys(alternative, keys, COUNT(keys));
    bool good = json_get_text(alternative, "formula", JSON_REQUIRED, &text.formula);
    good = json_get_text(alternative, "definition", JSON_REQUIRED, &text.definition) && good;
    (void)json_get_text(alternative, "title", JSON_OPTIONAL, &text.title);
    (void)json_get_text(alternative, "description", JSON_OPTIONAL, &text.help);
    if (good)
        spec_take(alternative, catalog_builder_add_alternative(spec->builder, metric, &text, &fault), &fault);
}

// Before any metric that uses this one is added.
static void read_alternatives(struct spec_reader *spec, const struct json_node *metric, unsigned index) {
    struct json_node ours, alternatives;
    const cJSON *value;
    size_t n = 0;
    if (!json_get_object(metric, "topdownd", JSON_OPTIONAL, &ours) ||
        !json_get_array(&ours, "alternatives", JSON_OPTIONAL, SPEC_ALTERNATIVES_MAX, &alternatives))
        return;
    cJSON_ArrayForEach(value, alternatives.value) {
        const struct json_node alternative = json_child(&alternatives, value, n++);
        read_alternative(spec, &alternative, index);
    }
}

static void read_metric(struct metric_reader *reader, size_t i) {
    struct spec_reader *spec = reader->spec;
    const struct json_node metric = json_child(reader->metrics, reader->values[i], 0);
    struct catalog_metric_text text = {.name = metric.key, .vendor = spec->vendor};
    reader->states[i] = METRIC_BEING_READ;
    bool good = json_is_object(&metric) && json_get_text(&metric, "formula", JSON_REQUIRED, &text.formula);
    if (cJSON_IsObject(metric.value)) {
        good = json_get_text(&metric, "title", JSON_REQUIRED, &text.title) && good;
        good = json_get_text(&metric, "units", JSON_REQUIRED, &text.units) && good;
        (void)json_get_text(&metric, "description", JSON_OPTIONAL, &text.help);
        read_ours(&metric, &text);
    }
    struct fault fault;
    int r = good ? catalog_builder_add_metric(spec->builder, &text, &fault) : -EINVAL;
    struct json_node at = metric;
    const cJSON *formula = good ? cJSON_GetObjectItemCaseSensitive(metric.value, "formula") : NULL;
    if (good && r == -EINVAL && fault.kind == FAULT_EVENT)
        at = json_child(&metric, formula, 0);
    if (good)
        spec_take(&at, r, &fault);
    if (r >= 0)
        read_alternatives(spec, &metric, (unsigned)r);
    reader->states[i] = r < 0 ? METRIC_WRONG : METRIC_READ;
    if (good && r == -EINVAL && spec->reader.lenient) { // lists it with the reason
        const struct fault reason = fault;
        if (catalog_builder_add_unmeasurable(spec->builder, &text, reason.text, &fault) == -ENOMEM)
            json_fail_memory(&metric);
    }
    json_forgive(&spec->reader);
}

// Reports a fault in a text of the metric's topdownd object at that text.
static void take_reference(const struct json_node *ours, const char *key, int r, const struct fault *fault) {
    const struct json_node at = json_child(ours, cJSON_GetObjectItemCaseSensitive(ours->value, key), 0);
    spec_take(&at, r, fault);
}

// Reads references to other metrics that are not part of the formula.
static void read_references(const struct metric_reader *reader, size_t i) {
    const struct json_node metric = json_child(reader->metrics, reader->values[i], 0);
    int index = catalog_find_metric(reader->spec->catalog, metric.key);
    struct json_node ours;
    const char *text;
    struct fault fault;
    if (index < 0 || !json_get_object(&metric, "topdownd", JSON_OPTIONAL, &ours))
        return;
    if (json_get_text(&ours, "parent", JSON_OPTIONAL, &text))
        take_reference(&ours, "parent",
                       catalog_builder_set_parent(reader->spec->builder, (unsigned)index, text, &fault), &fault);
    if (json_get_text(&ours, "threshold", JSON_OPTIONAL, &text))
        take_reference(&ours, "threshold",
                       catalog_builder_set_threshold(reader->spec->builder, (unsigned)index, text, &fault), &fault);
    if (json_get_text(&ours, "traffic", JSON_OPTIONAL, &text))
        take_reference(&ours, "traffic",
                       catalog_builder_set_traffic(reader->spec->builder, (unsigned)index, text, &fault), &fault);
}

// Once every metric has its parent.
static void read_included(const struct metric_reader *reader, size_t i) {
    const struct json_node metric = json_child(reader->metrics, reader->values[i], 0);
    int index = catalog_find_metric(reader->spec->catalog, metric.key);
    struct json_node ours;
    const char *text;
    struct fault fault;
    if (index >= 0 && json_get_object(&metric, "topdownd", JSON_OPTIONAL, &ours) &&
        json_get_text(&ours, "included_in", JSON_OPTIONAL, &text))
        take_reference(&ours, "included_in",
                       catalog_builder_set_included(reader->spec->builder, (unsigned)index, text, &fault), &fault);
}

static int list_metrics(struct metric_reader *reader) {
    size_t n = (size_t)cJSON_GetArraySize(reader->metrics->value);
    reader->values = calloc(n + 1, sizeof *reader->values);
    reader->states = calloc(n + 1, sizeof *reader->states);
    if (!reader->values || !reader->states)
        return -ENOMEM;
    const cJSON *value;
    cJSON_ArrayForEach(value, reader->metrics->value) {
        if (name_index_add(&reader->names, value->string, (unsigned)reader->n) < 0)
            return -ENOMEM;
        reader->values[reader->n++] = value;
    }
    return 0;
}

void spec_read_metrics(struct spec_reader *spec, const struct json_node *root) {
    struct json_node metrics;
    if (!json_get_object(root, "metrics", JSON_REQUIRED, &metrics))
        return;
    struct metric_reader reader = {.spec = spec, .metrics = &metrics};
    const struct catalog_resolver resolver = {.resolve = resolve, .context = &reader};
    if (list_metrics(&reader) < 0) {
        json_fail_memory(root);
    } else {
        catalog_builder_set_resolver(spec->builder, &resolver);
        for (size_t i = 0; i < reader.n; i++)
            if (reader.states[i] == METRIC_UNREAD)
                read_metric(&reader, i);
        for (size_t i = 0; i < reader.n && spec->reader.status == 0; i++) {
            read_references(&reader, i);
            json_forgive(&spec->reader);
        }
        for (size_t i = 0; i < reader.n && spec->reader.status == 0; i++) {
            read_included(&reader, i);
            json_forgive(&spec->reader);
        }
        catalog_builder_set_resolver(spec->builder, NULL);
    }
    name_index_deinit(&reader.names);
    free(reader.states);
    free(reader.values);
}
