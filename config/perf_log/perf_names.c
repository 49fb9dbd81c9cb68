// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/json/json_reader.h"

// topdownd ships the file, so an unknown key is a mistake. After the check, lookups search the document itself.

enum { FILE_MAX = 1 << 18, DEPTH_MAX = 8, VENDORS_MAX = 64 };

struct perf_names {
    cJSON *document;
};

static void check_vendor(const struct json_node *vendor) {
    static const char *const keys[] = {"vendor", "pmu", "microarchitectures", "events"};
    const char *name, **texts;
    size_t n;
    struct json_node events;
    const cJSON *terms;
    json_check_keys(vendor, keys, 4);
    if (json_get_texts(vendor, "microarchitectures", JSON_OPTIONAL, VENDORS_MAX, &texts, &n))
        free(texts);
    else if (!json_get_text(vendor, "pmu", JSON_OPTIONAL, &name))
        (void)json_get_text(vendor, "vendor", JSON_REQUIRED, &name);
    if (!json_get_object(vendor, "events", JSON_REQUIRED, &events))
        return;
    cJSON_ArrayForEach(terms, events.value) {
        const char *text;
        (void)json_get_text(&events, terms->string, JSON_REQUIRED, &text);
    }
}

static void check(const struct json_node *root) {
    static const char *const keys[] = {"description", "vendors"};
    struct json_node vendors;
    const cJSON *value;
    size_t index = 0;
    json_check_keys(root, keys, 2);
    if (!json_get_array(root, "vendors", JSON_REQUIRED, VENDORS_MAX, &vendors))
        return;
    cJSON_ArrayForEach(value, vendors.value) {
        const struct json_node vendor = json_child(&vendors, value, index++);
        if (json_is_object(&vendor))
            check_vendor(&vendor);
    }
}

// Takes ownership of the document; NULL if there is none.
static int make(struct json_reader *reader, cJSON *document, struct perf_names **out) {
    struct perf_names *names = calloc(1, sizeof *names);
    if (document) {
        const struct json_node root = json_root(reader, document);
        check(&root);
    }
    if (reader->status < 0 || !names) {
        cJSON_Delete(document);
        free(names);
        return reader->status < 0 ? reader->status : -ENOMEM;
    }
    names->document = document;
    *out = names;
    return 0;
}

int perf_names_parse(const char *name, const char *text, size_t length, struct errors *errors,
                     struct perf_names **out) {
    struct json_reader reader = {.file = name, .errors = errors};
    return make(&reader, json_parse(&reader, text, length, DEPTH_MAX), out);
}

int perf_names_load(const char *path, struct errors *errors, struct perf_names **out) {
    struct json_reader reader = {.file = path, .errors = errors};
    return make(&reader, json_load(&reader, FILE_MAX, DEPTH_MAX), out);
}

struct perf_names *perf_names_free(struct perf_names *names) {
    if (names)
        cJSON_Delete(names->document);
    free(names);
    return NULL;
}

static bool is_of(const cJSON *row, const char *key, const char *value) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, key));
    return text && strcmp(text, value) == 0;
}

static bool lists(const cJSON *row, const char *microarchitecture) {
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(row, "microarchitectures")) {
        if (strcmp(item->valuestring, microarchitecture) == 0) // checked: texts
            return true;
    }
    return false;
}

bool perf_names_has(const struct perf_names *names, const char *name, size_t length) {
    const cJSON *row, *terms;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(names->document, "vendors")) {
        cJSON_ArrayForEach(terms, cJSON_GetObjectItemCaseSensitive(row, "events")) {
            if (strlen(terms->string) == length && strncasecmp(terms->string, name, length) == 0)
                return true;
        }
    }
    return false;
}

const char *perf_names_find(const struct perf_names *names, const struct catalog_product *product, const char *name,
                            size_t length) {
    const cJSON *row, *terms;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(names->document, "vendors")) {
        if (!is_of(row, "vendor", product->vendor) && !is_of(row, "pmu", product->pmu) &&
            !lists(row, product->microarchitecture))
            continue;
        cJSON_ArrayForEach(terms, cJSON_GetObjectItemCaseSensitive(row, "events")) {
            if (strlen(terms->string) == length && strncasecmp(terms->string, name, length) == 0)
                return terms->valuestring;
        }
    }
    return NULL;
}
