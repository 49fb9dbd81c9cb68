// SPDX-License-Identifier: Apache-2.0
#include "config/spec/spec_family.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "core/spec/catalog.h"

// Entries move from the family's document and from `own` into the spec's: nothing is copied, and an entry can be named
// only once, so a merged document is never larger than both files. It is parsed once, whatever it names.

enum { FAMILY_NAME_MAX = 64 };

// Entries of one object, sorted by name.
struct entries {
    cJSON **items;
    size_t n;
};

// A section of a spec: {"names": [...], "own": {...}}.
struct section {
    struct spec_family *family;
    struct json_reader *theirs;
    struct json_node node; // of the spec
    cJSON *defined;        // the family's entries; NULL: none
    cJSON *made;           // what becomes of it
    struct entries base, whole;
};

static int compare_entries(const void *a, const void *b) {
    return strcmp((*(cJSON *const *)a)->string, (*(cJSON *const *)b)->string);
}

static int compare_name(const void *name, const void *entry) { return strcmp(name, (*(cJSON *const *)entry)->string); }

static bool sort_entries(const cJSON *object, struct entries *out) {
    cJSON *entry;
    size_t n = 0;
    *out = (struct entries){.items = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *out->items)};
    if (!out->items)
        return false;
    cJSON_ArrayForEach(entry, object) out->items[n++] = entry;
    out->n = n;
    qsort(out->items, n, sizeof(cJSON *), compare_entries);
    return true;
}

static cJSON *find_entry(const struct entries *entries, const char *name) {
    cJSON *const *found = bsearch(name, entries->items, entries->n, sizeof(cJSON *), compare_name);
    return found ? *found : NULL;
}

static bool remember(struct spec_family_values *values, const cJSON *item) {
    if (values->n == values->room) {
        size_t room = values->room > 0 ? 2 * values->room : 64;
        const cJSON **larger = realloc(values->items, room * sizeof *larger);
        if (!larger)
            return false;
        values->items = larger;
        values->room = room;
    }
    values->items[values->n++] = item;
    return true;
}

static bool holds(const struct spec_family_values *values, const cJSON *item) {
    for (size_t i = 0; i < values->n; i++)
        if (values->items[i] == item)
            return true;
    return false;
}

// The file in which a value of a merged document stands; NULL: the spec's. What is missing, or wrong as a whole, in an
// object that the spec has changed is the spec's: it can be seen from there that both files have a part in it.
static const char *file_of(const void *context, const struct json_node *node) {
    const struct spec_family *family = context;
    while (node && !node->value)
        node = node->parent;
    if (node && holds(&family->changed, node->value))
        return NULL;
    for (; node; node = node->parent) {
        if (holds(&family->patches, node->value))
            return NULL;
        if (holds(&family->entries, node->value))
            return family->path;
    }
    return NULL;
}

// ---- merge patches (RFC 7396) ----

// Takes out what a patch deletes: what it adds anew deletes nothing.
static void drop_nulls(cJSON *value) {
    for (cJSON *child = cJSON_IsObject(value) ? value->child : NULL, *next; child; child = next) {
        next = child->next;
        if (cJSON_IsNull(child))
            cJSON_Delete(cJSON_DetachItemViaPointer(value, child));
        else
            drop_nulls(child); // as deep as the parser allowed
    }
}

static bool patch_entry(struct spec_family *family, cJSON *entry, cJSON *patch);

static bool patch_member(struct spec_family *family, cJSON *entry, cJSON *patch, cJSON *change) {
    cJSON *old = cJSON_GetObjectItemCaseSensitive(entry, change->string);
    if (cJSON_IsNull(change)) {
        cJSON_Delete(old ? cJSON_DetachItemViaPointer(entry, old) : NULL);
        return true;
    }
    if (cJSON_IsObject(change) && cJSON_IsObject(old))
        return patch_entry(family, old, change);
    (void)cJSON_DetachItemViaPointer(patch, change);
    drop_nulls(change);
    bool done = old ? cJSON_ReplaceItemViaPointer(entry, old, change) : cJSON_AddItemToArray(entry, change);
    if (!done)
        cJSON_Delete(change);
    return done && remember(&family->patches, change);
}

static bool patch_entry(struct spec_family *family, cJSON *entry, cJSON *patch) {
    bool done = remember(&family->changed, entry);
    for (cJSON *change = patch->child, *next; change && done; change = next) {
        next = change->next;
        done = patch_member(family, entry, patch, change);
    }
    return done;
}

// Patches what the family defines; the others are whole.
static bool take_own(struct section *section, const struct json_node *own) {
    bool done = true;
    const cJSON *change;
    cJSON_ArrayForEach(change, own->value) {
        const struct json_node node = json_child(own, change, 0);
        cJSON *entry = find_entry(&section->base, change->string);
        if (json_is_object(&node) && entry)
            done = done && patch_entry(section->family, entry, find_entry(&section->whole, change->string));
    }
    return done;
}

// ---- names ----

static void fail_unknown(const struct section *section, const struct json_node *names, const char *name) {
    size_t n = 0;
    const char **known = calloc(section->base.n + section->whole.n + 1, sizeof *known);
    char text[ERROR_TEXT_MAX];
    for (size_t i = 0; known && i < section->base.n; i++)
        known[n++] = section->base.items[i]->string;
    for (size_t i = 0; known && i < section->whole.n; i++)
        known[n++] = section->whole.items[i]->string;
    (void)snprintf(text, sizeof text, "neither the family nor \"own\" has %.60s", name);
    json_fail_suggest(names, name, known, n, text);
    free(known);
}

// Moves the named entry to the end of those that are made.
static void take_entry(struct section *section, const struct json_node *names, const char *name) {
    cJSON *entry = find_entry(&section->base, name), *from = section->defined;
    bool family = entry;
    if (!entry) {
        entry = find_entry(&section->whole, name);
        from = cJSON_GetObjectItemCaseSensitive(section->node.value, "own");
    }
    if (!entry) {
        fail_unknown(section, names, name);
        return;
    }
    (void)cJSON_DetachItemViaPointer(from, entry);
    (void)cJSON_AddItemToArray(section->made, entry); // it keeps its name
    if (family && !remember(&section->family->entries, entry))
        json_fail_memory(names);
}

static void take_names(struct section *section) {
    const char **names;
    size_t n;
    if (!json_get_texts(&section->node, "names", JSON_REQUIRED, CATALOG_EVENTS_MAX, &names, &n))
        return;
    const struct json_node at = json_child(&section->node, cJSON_GetObjectItem(section->node.value, "names"), 0);
    for (size_t i = 0; i < n; i++)
        take_entry(section, &at, names[i]);
    free(names);
}

// What is left of `own` has no name: whole entries, and patches of entries that the family still has.
static void check_left(const struct section *section, const struct json_node *own) {
    const cJSON *left;
    cJSON_ArrayForEach(left, own->value) {
        const struct json_node node = json_child(own, left, 0);
        if (!cJSON_GetObjectItemCaseSensitive(section->made, left->string))
            json_fail(&node, "is not among \"names\"");
    }
}

static void make_section(struct section *section) {
    static const char *const keys[] = {"names", "own"};
    struct json_node own = {0};
    json_check_keys(&section->node, keys, sizeof keys / sizeof *keys);
    (void)json_get_object(&section->node, "own", JSON_OPTIONAL, &own);
    if (!sort_entries(section->defined, &section->base) || !sort_entries(own.value, &section->whole) ||
        !take_own(section, &own)) {
        json_fail_memory(&section->node);
        return;
    }
    take_names(section);
    check_left(section, &own);
}

// Replaces the section `key` of `part`, whose node is `at`, by the entries that it names.
static void merge_section(struct spec_family *family, cJSON *part, const struct json_node *at, const cJSON *defined,
                          const char *key) {
    struct section section = {.family = family, .defined = cJSON_GetObjectItemCaseSensitive(defined, key)};
    if (!json_get_object(at, key, JSON_OPTIONAL, &section.node))
        return;
    section.made = cJSON_CreateObject();
    if (section.made)
        make_section(&section);
    else
        json_fail_memory(at);
    free(section.base.items);
    free(section.whole.items);
    if (section.made && !cJSON_ReplaceItemInObjectCaseSensitive(part, key, section.made)) {
        cJSON_Delete(section.made);
        json_fail_memory(at);
    }
}

static void merge_sections(struct spec_family *family, struct json_reader *reader, cJSON *document,
                           const cJSON *defined) {
    const struct json_node root = json_root(reader, document);
    struct json_node groups;
    merge_section(family, document, &root, defined, "events");
    merge_section(family, document, &root, defined, "metrics");
    if (json_get_object(&root, "groups", JSON_OPTIONAL, &groups))
        merge_section(family, cJSON_GetObjectItemCaseSensitive(document, "groups"), &groups,
                      cJSON_GetObjectItemCaseSensitive(defined, "groups"), "metrics");
}

// ---- the family's file ----

static bool check_entries(const struct json_node *part, const char *key) {
    struct json_node section;
    const cJSON *entry;
    bool good = true;
    if (!json_get_object(part, key, JSON_OPTIONAL, &section))
        return true;
    cJSON_ArrayForEach(entry, section.value) {
        const struct json_node node = json_child(&section, entry, 0);
        good = json_is_object(&node) && good;
    }
    return good;
}

static void check_family(struct json_reader *reader, const cJSON *document) {
    static const char *const keys[] = {"document", "events", "metrics", "groups"}, *const of_groups[] = {"metrics"};
    const struct json_node root = json_root(reader, document);
    struct json_node groups;
    json_check_keys(&root, keys, sizeof keys / sizeof *keys);
    (void)check_entries(&root, "events");
    (void)check_entries(&root, "metrics");
    if (json_get_object(&root, "groups", JSON_OPTIONAL, &groups)) {
        json_check_keys(&groups, of_groups, 1);
        (void)check_entries(&groups, "metrics");
    }
}

static cJSON *load_family(struct json_reader *theirs, const struct spec_family_text *given) {
    cJSON *document = given ? json_parse(theirs, given->text, given->length, SPEC_DEPTH_MAX)
                            : json_load(theirs, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    if (document)
        check_family(theirs, document);
    return document;
}

// "FOLDER/families/NAME.json" beside the spec's file; NULL if out of memory.
static char *path_of(const char *spec, const char *name) {
    const char *slash = strrchr(spec, '/');
    int folder = slash ? (int)(slash - spec) + 1 : 0;
    size_t size = (size_t)folder + strlen(name) + sizeof "families/.json";
    char *path = malloc(size);
    if (path)
        (void)snprintf(path, size, "%.*sfamilies/%s.json", folder, spec, name);
    return path;
}

static size_t count_values(const cJSON *value) {
    size_t n = 1;
    const cJSON *child;
    cJSON_ArrayForEach(child, value) n += count_values(child); // as deep as the parser allowed
    return n;
}

// Finds the file of the family that the spec names, if it names one.
static void find_family(struct json_reader *reader, const cJSON *document, struct spec_family *family) {
    const struct json_node root = json_root(reader, document);
    const char *name;
    if (!json_get_text(&root, "family", JSON_OPTIONAL, &name))
        return;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (length == 0 || length > FAMILY_NAME_MAX || name[length] != '\0') {
        json_fail(&root, "family: must be a word of a-z, 0-9 and -");
        return;
    }
    family->path = path_of(reader->file, name);
    if (!family->path)
        json_fail_memory(&root);
}

int spec_family_merge(struct json_reader *reader, cJSON *document, const struct spec_family_text *given,
                      struct spec_family *family) {
    size_t values_max = reader->values_max > 0 ? reader->values_max : JSON_VALUES_MAX;
    *family = (struct spec_family){.path = NULL};
    find_family(reader, document, family);
    if (!family->path)
        return reader->status;
    struct json_reader theirs = {.file = family->path, .errors = reader->errors, .values_max = reader->values_max};
    const struct json_node root = json_root(reader, document);
    cJSON *defined = load_family(&theirs, given);
    if (theirs.status == 0)
        merge_sections(family, reader, document, defined);
    else if (theirs.status == -ENOMEM)
        json_fail_memory(&root);
    else
        json_fail(&root, "family: cannot be read");
    cJSON_Delete(defined);
    cJSON_DeleteItemFromObjectCaseSensitive(document, "family");
    if (reader->status == 0 && count_values(document) > values_max)
        json_fail(&root, "has more than %zu values with those of its family", values_max);
    reader->file_of = file_of;
    reader->file_context = family;
    return reader->status;
}

void spec_family_deinit(struct spec_family *family) {
    free(family->changed.items);
    free(family->patches.items);
    free(family->entries.items);
    free(family->path);
}
