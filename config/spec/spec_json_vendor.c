// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "config/spec/level1_splits.h"
#include "config/spec/spec_json.h"
#include "config/spec/spec_json_private.h"

// A vendor's file is read like a shipped spec, after its missing parts have been added to the document from a file of
// defaults. Parts of a default that refer to entries not in the file are left out without an error. An invalid entry of
// the file disables only that entry and what depends on it.

enum { DEFAULTS_FILE_MAX = 1 << 20, DEFAULTS_DEPTH_MAX = 8, WIDTH_MAX = 64 };

static const cJSON *get(const cJSON *object, const char *key) { return cJSON_GetObjectItemCaseSensitive(object, key); }

// Pipeline slots per cycle, 0 if the file does not say.
static double width_of(const cJSON *document) {
    const cJSON *slots = get(get(document, "product_configuration"), "num_slots");
    return cJSON_IsNumber(slots) && slots->valuedouble >= 1 && slots->valuedouble <= WIDTH_MAX ? slots->valuedouble : 0;
}

static bool has_categories(const cJSON *document, const cJSON *level1) {
    const cJSON *category;
    cJSON_ArrayForEach(category, get(level1, "categories")) {
        if (!cJSON_IsString(category) || !get(get(document, "metrics"), category->valuestring))
            return false;
    }
    return true;
}

// Keeps level 1 if the file has the metrics of all categories and the width.
static bool keep_known_level1(const cJSON *document, cJSON *ours, double width) {
    cJSON *level1 = cJSON_GetObjectItemCaseSensitive(ours, "level1");
    if (level1 && width > 0 && has_categories(document, level1))
        return cJSON_AddNumberToObject(level1, "width", width) != NULL;
    cJSON_DeleteItemFromObjectCaseSensitive(ours, "level1");
    return true;
}

static void keep_known_fixed(const cJSON *document, const cJSON *ours) {
    cJSON *fixed = cJSON_GetObjectItemCaseSensitive(get(ours, "counters"), "fixed");
    for (int i = cJSON_GetArraySize(fixed) - 1; i >= 0; i--) {
        const cJSON *event = cJSON_GetArrayItem(fixed, i);
        if (cJSON_IsString(event) && !get(get(document, "events"), event->valuestring))
            cJSON_DeleteItemFromArray(fixed, i);
    }
}

// Adds a text for each of these metrics that the file has: the name under which it is exported, or its definition.
static bool add_texts(const cJSON *document, const char *key, const cJSON *texts) {
    const cJSON *text;
    bool good = true;
    cJSON_ArrayForEach(text, texts) {
        cJSON *metric = cJSON_GetObjectItemCaseSensitive(get(document, "metrics"), text->string);
        if (!cJSON_IsObject(metric) || !cJSON_IsString(text))
            continue;
        cJSON *ours = cJSON_GetObjectItemCaseSensitive(metric, "topdownd");
        if (!ours)
            ours = cJSON_AddObjectToObject(metric, "topdownd");
        good = good && ours && (get(ours, key) || cJSON_AddStringToObject(ours, key, text->valuestring));
    }
    return good;
}

// Marks the events of this list that the file has: they must count in any busy second.
static bool add_marks(const cJSON *document, const cJSON *events) {
    const cJSON *name;
    bool good = true;
    cJSON_ArrayForEach(name, events) {
        cJSON *event =
            cJSON_IsString(name) ? cJSON_GetObjectItemCaseSensitive(get(document, "events"), name->valuestring) : NULL;
        if (!cJSON_IsObject(event))
            continue;
        cJSON *ours = cJSON_GetObjectItemCaseSensitive(event, "topdownd");
        if (!ours)
            ours = cJSON_AddObjectToObject(event, "topdownd");
        good = good && ours && (get(ours, "must_count") || cJSON_AddTrueToObject(ours, "must_count"));
    }
    return good;
}

// Replaces the units of metrics of which the file says "percent of cycles" though their formulas divide by stalls.
static bool set_units(const cJSON *document, const cJSON *units) {
    const cJSON *unit;
    bool good = true;
    cJSON_ArrayForEach(unit, units) {
        cJSON *metric = cJSON_GetObjectItemCaseSensitive(get(document, "metrics"), unit->string);
        if (!cJSON_IsObject(metric) || !cJSON_IsString(unit) || !cJSON_IsString(get(metric, "units")))
            continue;
        cJSON *copy = cJSON_Duplicate(unit, false);
        good = good && copy && cJSON_ReplaceItemInObjectCaseSensitive(metric, "units", copy);
    }
    return good;
}

// A vendor's file is whole. A shipped spec that was copied and edited may not be.
static void refuse_family(struct json_reader *reader, const cJSON *document) {
    const struct json_node root = json_root(reader, document);
    if (get(document, "family"))
        json_fail(&root,
                  "family: is only for the specs that ship with topdownd. A whole spec to begin with is printed by "
                  "'topdownd list spec --cpu NAME'");
}

static bool add_defaults(cJSON *document, const cJSON *defaults, double width) {
    const cJSON *given = get(defaults, "topdownd");
    cJSON *ours = cJSON_IsObject(given) ? cJSON_Duplicate(given, true) : cJSON_CreateObject();
    if (!ours || !cJSON_AddItemToObject(document, "topdownd", ours)) {
        cJSON_Delete(ours);
        return false;
    }
    keep_known_fixed(document, ours);
    return keep_known_level1(document, ours, width) && add_texts(document, "name", get(defaults, "names")) &&
           add_texts(document, "definition", get(defaults, "definitions")) &&
           set_units(document, get(defaults, "units")) && add_marks(document, get(defaults, "must_count"));
}

// Builds a catalog from a document, of which it takes ownership; NULL if there is none.
static int read_vendor(struct spec_reader *spec, cJSON *document, const char *defaults,
                       const struct environment *environment, struct catalog_builder **out) {
    struct environment of_file;
    struct json_reader theirs = {.file = defaults, .errors = spec->reader.errors};
    cJSON *added = NULL;
    environment_init(&of_file);
    if (environment)
        of_file = *environment;
    spec->environment = &of_file;
    if (document)
        refuse_family(&spec->reader, document);
    if (document && !get(document, "topdownd")) {
        double width = width_of(document);
        added = json_load(&theirs, DEFAULTS_FILE_MAX, DEFAULTS_DEPTH_MAX);
        if (!added)
            spec->reader.status = theirs.status;
        else if (!add_defaults(document, added, width))
            spec->reader.status = -ENOMEM;
        if (width > 0) // the file's formulas contain it as a number
            of_file.facts.literals[LITERAL_SLOTS] = width;
    }
    int r = spec->reader.status;
    if (r == 0)
        r = spec_read(spec, document, out);
    else
        cJSON_Delete(document);
    if (r == 0)
        level1_splits_offer(get(added, "level1_splits"), *out);
    cJSON_Delete(added);
    return r;
}

int spec_json_read_vendor(const char *path, const char *defaults, const struct environment *environment,
                          struct errors *errors, struct catalog_builder **out) {
    struct spec_reader spec = {.reader = {.file = path, .errors = errors, .lenient = true}};
    return read_vendor(&spec, json_load(&spec.reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX), defaults, environment, out);
}

int spec_json_parse_vendor(const char *name, const char *text, size_t length, const char *defaults,
                           const struct environment *environment, struct errors *errors, struct catalog **out) {
    struct spec_reader spec = {.reader = {.file = name, .errors = errors, .lenient = true}};
    struct catalog_builder *builder = NULL;
    int r = read_vendor(&spec, json_parse(&spec.reader, text, length, SPEC_DEPTH_MAX), defaults, environment, &builder);
    return spec_finish(r, builder, out);
}
