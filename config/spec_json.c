// SPDX-License-Identifier: Apache-2.0
#include "config/spec_json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/json_reader.h"

// A spec is read in three passes: the product and its events; the metrics, which refer to events; groups and level 1,
// which refer to metrics. A pass shows all its mistakes, and stops the ones after it, whose complaints would only be
// echoes.
//
// What a vendor's file holds beyond the schema is ignored, since vendors add fields. In our own objects, named
// "topdownd", an unknown key is a mistake.

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { COUNTERS_MAX = 64, LIST_MAX = CATALOG_METRICS_MAX };

// Events that stand in the file and that no PMU counts: a metric that names one deserves to be told so.
struct uncountable {
    const char **names;
    size_t n;
};

struct spec_reader {
    struct json_reader reader;
    struct catalog *catalog;
    struct uncountable uncountable;
};

// Takes over the result of a catalog function: what the catalog refuses is an error at `node`.
static void take(const struct json_node *node, int result, const struct catalog_error *error) {
    if (result == -ENOMEM)
        json_fail_memory(node);
    else if (result < 0)
        json_fail(node, "%s", error->text);
}

// A revision says nothing to us, but a file in which it is an object is not what it claims to be.
static void check_revision(const struct json_node *product, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(product->value, key);
    if (!value || cJSON_IsString(value) || cJSON_IsNumber(value))
        return;
    const struct json_node node = json_child(product, value, 0);
    json_fail(&node, "must be text in quotes or a number");
}

static char *microarchitecture_of(const char *product_name) {
    char *name = strdup(product_name);
    for (char *c = name; c && *c != '\0'; c++)
        *c = *c == ' ' ? '-' : (char)tolower((unsigned char)*c);
    return name;
}

static void read_product(struct spec_reader *spec, const struct json_node *root, const struct json_node *ours) {
    struct json_node product;
    if (!json_get_object(root, "product_configuration", JSON_REQUIRED, &product))
        return;
    const char *name = NULL, *vendor = "", *microarchitecture = NULL, *pmu = "armv*";
    (void)json_get_text(&product, "product_name", JSON_REQUIRED, &name);
    if (json_get_text(&product, "implementer", JSON_OPTIONAL, &vendor) && strcmp(vendor, "0x41") == 0)
        vendor = "Arm";
    check_revision(&product, "major_revision");
    check_revision(&product, "minor_revision");
    if (ours->value) {
        static const char *const keys[] = {"vendor", "microarchitecture", "pmu", "match", "counters", "level1"};
        json_check_keys(ours, keys, COUNT(keys));
        (void)json_get_text(ours, "vendor", JSON_OPTIONAL, &vendor);
        (void)json_get_text(ours, "microarchitecture", JSON_OPTIONAL, &microarchitecture);
        (void)json_get_text(ours, "pmu", JSON_OPTIONAL, &pmu);
    }
    if (vendor[0] == '\0')
        json_fail(&product, "has no implementer, and topdownd.vendor is missing too");
    if (spec->reader.status != 0)
        return;
    char *stem = json_file_stem(spec->reader.file), *derived = microarchitecture_of(name);
    if (!stem || !derived ||
        catalog_new(stem, vendor, name, microarchitecture ? microarchitecture : derived, pmu, &spec->catalog) < 0)
        json_fail_memory(root);
    free(derived);
    free(stem);
}

// "0x0004" or "4".
static bool parse_code(const char *text, uint64_t *code) {
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    size_t length = strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    if (length == 0 || digits[length] != '\0')
        return false;
    errno = 0;
    *code = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    return errno == 0;
}

static void read_midr(struct spec_reader *spec, const struct json_node *node) {
    struct catalog_error error;
    const char *text = cJSON_IsString(node->value) ? node->value->valuestring : "";
    uint64_t midr;
    if (strncmp(text, "0x", 2) != 0 || !parse_code(text, &midr) || midr > UINT32_MAX)
        json_fail(node, "is not a MIDR_EL1: write it as \"0x410fd4f0\"");
    else
        take(node, catalog_add_midr(spec->catalog, (uint32_t)midr, &error), &error);
}

// The CPUs that the spec is for.
static void read_match(struct spec_reader *spec, const struct json_node *ours) {
    static const char *const keys[] = {"midr", "generic"};
    struct json_node match, midrs;
    bool generic = false;
    if (!ours->value || !json_get_object(ours, "match", JSON_OPTIONAL, &match))
        return;
    json_check_keys(&match, keys, COUNT(keys));
    if (json_get_array(&match, "midr", JSON_OPTIONAL, CATALOG_MIDRS_MAX, &midrs)) {
        const cJSON *value;
        size_t index = 0;
        cJSON_ArrayForEach(value, midrs.value) {
            const struct json_node node = json_child(&midrs, value, index++);
            read_midr(spec, &node);
        }
    }
    if (json_get_bool(&match, "generic", JSON_OPTIONAL, &generic) && generic)
        catalog_set_generic(spec->catalog);
    if (spec->reader.status == 0 && !generic && spec->catalog->product.n_midrs == 0)
        json_fail(&match, "matches no CPU: it needs midr, or generic: true");
}

static bool read_code(const struct json_node *event, uint64_t *code) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(event->value, "code");
    if (!value || cJSON_IsNull(value)) {
        json_fail(event, "has no code");
        return false;
    }
    const double exact_max = 9007199254740992.0; // 2^53: above it doubles skip whole numbers
    if (cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= exact_max &&
        floor(value->valuedouble) == value->valuedouble) {
        *code = (uint64_t)value->valuedouble;
        return true;
    }
    if (cJSON_IsString(value) && parse_code(value->valuestring, code))
        return true;
    const struct json_node node = json_child(event, value, 0);
    json_fail(&node, "is not an event code: write it as \"0x0011\" or 17");
    return false;
}

// Without a statement an event can be counted; the schema's private events have a code and nothing else.
static bool can_be_counted(const struct json_node *event) {
    const char **accesses;
    size_t n;
    if (!json_get_texts(event, "accesses", JSON_OPTIONAL, LIST_MAX, &accesses, &n))
        return true;
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || strcmp(accesses[i], "PMU") == 0;
    free(accesses);
    return found;
}

static void read_events(struct spec_reader *spec, const struct json_node *root) {
    struct json_node events;
    if (!json_get_object(root, "events", JSON_REQUIRED, &events))
        return;
    spec->uncountable.names = calloc((size_t)cJSON_GetArraySize(events.value) + 1, sizeof *spec->uncountable.names);
    if (!spec->uncountable.names) {
        json_fail_memory(root);
        return;
    }
    const cJSON *value;
    cJSON_ArrayForEach(value, events.value) {
        const struct json_node event = json_child(&events, value, 0);
        const char *title = "";
        uint64_t code;
        if (!json_is_object(&event))
            continue;
        if (!can_be_counted(&event)) {
            spec->uncountable.names[spec->uncountable.n++] = value->string;
            continue;
        }
        (void)json_get_text(&event, "title", JSON_OPTIONAL, &title);
        if (!read_code(&event, &code))
            continue;
        struct catalog_error error;
        take(&event, catalog_add_event(spec->catalog, value->string, title, code, &error), &error);
    }
}

static void read_counters(struct spec_reader *spec, const struct json_node *ours) {
    static const char *const keys[] = {"general", "fixed"};
    struct json_node counters;
    unsigned general;
    const char **fixed = NULL;
    size_t n = 0;
    if (!ours->value || !json_get_object(ours, "counters", JSON_OPTIONAL, &counters))
        return;
    json_check_keys(&counters, keys, COUNT(keys));
    (void)json_get_texts(&counters, "fixed", JSON_OPTIONAL, COUNTERS_MAX, &fixed, &n);
    struct catalog_error error;
    if (json_get_count(&counters, "general", JSON_REQUIRED, 0, COUNTERS_MAX, &general))
        take(&counters, catalog_set_counters(spec->catalog, general, fixed, n, &error), &error);
    free(fixed);
}

static bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// The next name in a formula, cut to `size` - 1; false at the end. Numbers are not names.
static bool next_name(const char **cursor, char *name, size_t size) {
    const char *c = *cursor;
    while (*c != '\0' && !is_name_character(*c))
        c++;
    size_t length = 0;
    while (is_name_character(c[length]))
        length++;
    *cursor = c + length;
    (void)snprintf(name, size, "%.*s", (int)length, c);
    return length > 0;
}

// Says more than the catalog can about a formula that names an event which is not there. True where that was it.
static bool explain_unknown_event(const struct spec_reader *spec, const struct json_node *formula, const char *text) {
    char name[128], message[200];
    while (next_name(&text, name, sizeof name)) {
        if (isdigit((unsigned char)name[0]) || name[0] == '.' || catalog_find_event(spec->catalog, name) >= 0)
            continue;
        for (size_t i = 0; i < spec->uncountable.n; i++)
            if (strcmp(spec->uncountable.names[i], name) == 0) {
                json_fail(formula, "needs the event %s, which no PMU counts (its accesses do not list \"PMU\")", name);
                return true;
            }
        size_t n = spec->catalog->n_events;
        const char **names = calloc(n, sizeof *names);
        for (size_t i = 0; names && i < n; i++)
            names[i] = spec->catalog->events[i].name;
        (void)snprintf(message, sizeof message, "needs the event %s, which is not among the events", name);
        json_fail_suggest(formula, name, names, names ? n : 0, message);
        free(names);
        return true;
    }
    return false;
}

static void read_metric(struct spec_reader *spec, const struct json_node *metric) {
    static const char *const keys[] = {"name",   "rate_threshold", "rate_advice", "meaning",
                                       "parent", "threshold",      "constraint"};
    struct catalog_metric_text text = {.name = metric->key};
    struct json_node ours;
    bool good = json_get_text(metric, "formula", JSON_REQUIRED, &text.formula);
    good = json_get_text(metric, "title", JSON_REQUIRED, &text.title) && good;
    good = json_get_text(metric, "units", JSON_REQUIRED, &text.units) && good;
    (void)json_get_text(metric, "description", JSON_OPTIONAL, &text.help);
    if (json_get_object(metric, "topdownd", JSON_OPTIONAL, &ours)) {
        json_check_keys(&ours, keys, COUNT(keys));
        (void)json_get_text(&ours, "name", JSON_OPTIONAL, &text.export_name);
        (void)json_get_number(&ours, "rate_threshold", JSON_OPTIONAL, 0, 1e15, &text.rate_threshold);
        (void)json_get_text(&ours, "rate_advice", JSON_OPTIONAL, &text.rate_advice);
    }
    if (!good)
        return;
    struct catalog_error error;
    int r = catalog_add_metric(spec->catalog, &text, &error);
    struct json_node formula = json_child(metric, cJSON_GetObjectItemCaseSensitive(metric->value, "formula"), 0);
    if (r != -EINVAL || !explain_unknown_event(spec, &formula, text.formula))
        take(metric, r, &error);
}

static void read_metrics(struct spec_reader *spec, const struct json_node *root) {
    struct json_node metrics;
    const cJSON *value;
    if (!json_get_object(root, "metrics", JSON_REQUIRED, &metrics))
        return;
    cJSON_ArrayForEach(value, metrics.value) {
        const struct json_node metric = json_child(&metrics, value, 0);
        if (json_is_object(&metric))
            read_metric(spec, &metric);
    }
}

static void read_group(struct spec_reader *spec, const struct json_node *group) {
    const char *title = "", *help = "", **metrics;
    size_t n;
    (void)json_get_text(group, "title", JSON_OPTIONAL, &title);
    (void)json_get_text(group, "description", JSON_OPTIONAL, &help);
    if (!json_get_texts(group, "metrics", JSON_REQUIRED, LIST_MAX, &metrics, &n))
        return;
    struct catalog_error error;
    take(group, catalog_add_group(spec->catalog, group->key, title, help, metrics, n, &error), &error);
    free(metrics);
}

static void read_groups(struct spec_reader *spec, const struct json_node *root) {
    struct json_node groups, of_metrics;
    const cJSON *value;
    if (!json_get_object(root, "groups", JSON_REQUIRED, &groups) ||
        !json_get_object(&groups, "metrics", JSON_REQUIRED, &of_metrics))
        return;
    cJSON_ArrayForEach(value, of_metrics.value) {
        const struct json_node group = json_child(&of_metrics, value, 0);
        if (json_is_object(&group))
            read_group(spec, &group);
    }
}

// The stages of the methodology become groups of their own, so that a profile can ask for stage_1 on any CPU.
static void read_methodology(struct spec_reader *spec, const struct json_node *root) {
    static const char *const stages[] = {"stage_1", "stage_2"};
    struct json_node methodologies, topdown, grouping;
    if (!json_get_object(root, "methodologies", JSON_OPTIONAL, &methodologies) ||
        !json_get_object(&methodologies, "topdown_methodology", JSON_OPTIONAL, &topdown) ||
        !json_get_object(&topdown, "metric_grouping", JSON_OPTIONAL, &grouping))
        return;
    for (size_t i = 0; i < COUNT(stages); i++) {
        const char **groups;
        size_t n;
        if (!json_get_texts(&grouping, stages[i], JSON_OPTIONAL, CATALOG_GROUPS_MAX, &groups, &n))
            continue;
        struct catalog_error error;
        if (n > 0 && catalog_find_group(spec->catalog, stages[i]) < 0)
            take(&grouping, catalog_add_union(spec->catalog, stages[i], groups, n, &error), &error);
        free(groups);
    }
}

static void read_categories(struct spec_reader *spec, const struct json_node *level1) {
    struct json_node categories;
    const char *names[CATEGORY_N];
    struct catalog_error error;
    if (!json_get_object(level1, "categories", JSON_REQUIRED, &categories))
        return;
    for (unsigned i = 0; i < CATEGORY_N; i++)
        names[i] = category_name((enum category)i);
    json_check_keys(&categories, names, CATEGORY_N);
    for (unsigned i = 0; i < CATEGORY_N; i++) {
        const char *metric;
        if (json_get_text(&categories, names[i], JSON_OPTIONAL, &metric))
            take(&categories, catalog_set_level1_category(spec->catalog, (enum category)i, metric, &error), &error);
    }
}

static void read_split(struct spec_reader *spec, const struct json_node *level1) {
    struct json_node split;
    const cJSON *value;
    size_t index = 0;
    if (!json_get_array(level1, "split", JSON_OPTIONAL, CATALOG_SPLIT_MAX, &split))
        return;
    cJSON_ArrayForEach(value, split.value) {
        const struct json_node part = json_child(&split, value, index++);
        const char **events;
        size_t n;
        if (!json_texts(&part, CATALOG_SPLIT_EVENTS_MAX, &events, &n))
            continue;
        struct catalog_error error;
        take(&part, catalog_add_level1_part(spec->catalog, events, n, &error), &error);
        free(events);
    }
}

static void read_level1(struct spec_reader *spec, const struct json_node *ours) {
    static const char *const keys[] = {"pipeline_slots", "width", "categories", "split"};
    struct json_node level1;
    const char *pipeline_slots;
    double width;
    struct catalog_error error;
    if (!ours->value || !json_get_object(ours, "level1", JSON_OPTIONAL, &level1))
        return;
    json_check_keys(&level1, keys, COUNT(keys));
    bool good = json_get_text(&level1, "pipeline_slots", JSON_REQUIRED, &pipeline_slots);
    if (json_get_number(&level1, "width", JSON_REQUIRED, 1, 64, &width) && good)
        take(&level1, catalog_set_level1(spec->catalog, pipeline_slots, width, &error), &error);
    read_categories(spec, &level1);
    read_split(spec, &level1);
}

static void read_document(struct spec_reader *spec, const struct json_node *root) {
    struct json_node ours = {0};
    (void)json_get_object(root, "topdownd", JSON_OPTIONAL, &ours);
    read_product(spec, root, &ours);
    if (spec->reader.status != 0)
        return;
    read_match(spec, &ours);
    read_events(spec, root);
    if (spec->reader.status == 0)
        read_counters(spec, &ours);
    if (spec->reader.status == 0)
        read_metrics(spec, root);
    if (spec->reader.status != 0)
        return;
    read_groups(spec, root);
    if (spec->reader.status == 0)
        read_methodology(spec, root);
    read_level1(spec, &ours);
    if (spec->reader.status != 0)
        return;
    struct catalog_error error;
    take(ours.value ? &ours : root, catalog_check(spec->catalog, &error), &error);
}

int spec_json_parse(const char *name, const char *text, size_t length, struct errors *errors, struct catalog **out) {
    struct spec_reader spec = {.reader = {.file = name, .errors = errors}};
    cJSON *document = json_parse(&spec.reader, text, length, SPEC_DEPTH_MAX);
    if (document) {
        const struct json_node root = json_root(&spec.reader, document);
        read_document(&spec, &root);
    }
    if (spec.reader.status == 0)
        *out = spec.catalog;
    else
        catalog_free(spec.catalog);
    free(spec.uncountable.names);
    cJSON_Delete(document);
    return spec.reader.status;
}

int spec_json_load(const char *path, struct errors *errors, struct catalog **out) {
    char *text;
    size_t length;
    int r = json_read_file(path, SPEC_FILE_MAX, errors, &text, &length);
    if (r < 0)
        return r;
    r = spec_json_parse(path, text, length, errors, out);
    free(text);
    return r;
}
