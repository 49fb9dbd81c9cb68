// SPDX-License-Identifier: Apache-2.0
#include "top/model/page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 64, VALUES_MAX = 1 << 22, NAMES_MAX = 200 };

int page_open(struct page *page, const char *text, size_t length, char why[static PAGE_WHY_MAX]) {
    *page = (struct page){.reader = {.file = "the answer", .lenient = true, .values_max = VALUES_MAX}};
    page->reader.errors = &page->errors;
    why[0] = '\0';
    page->document = json_parse_value(&page->reader, text, length, DEPTH_MAX);
    page->root = json_root(&page->reader, page->document);
    if (page->document && cJSON_IsObject(page->document))
        return 0;
    (void)snprintf(why, PAGE_WHY_MAX, "its answer is not JSON of topdownd (%.120s)",
                   page->errors.n > 0 ? page->errors.items[0].text : "no object");
    return page->reader.status == -ENOMEM ? -ENOMEM : -EINVAL;
}

void page_close(struct page *page) {
    cJSON_Delete(page->document);
    page->document = NULL;
}

static struct json_node member(const struct json_node *object, const char *key) {
    return (struct json_node){.reader = object->reader,
                              .parent = object,
                              .key = key,
                              .value = cJSON_GetObjectItemCaseSensitive(object->value, key)};
}

const char *page_text(const struct json_node *object, const char *key, struct arena *arena, const char *otherwise) {
    const struct json_node node = member(object, key);
    return cJSON_IsString(node.value) ? arena_text(arena, node.value->valuestring, PAGE_TEXT_MAX) : otherwise;
}

double page_number(const struct json_node *object, const char *key) {
    const struct json_node node = member(object, key);
    return cJSON_IsNumber(node.value) && isfinite(node.value->valuedouble) ? node.value->valuedouble : (double)NAN;
}

int page_bool(const struct json_node *object, const char *key) {
    const struct json_node node = member(object, key);
    return cJSON_IsBool(node.value) ? cJSON_IsTrue(node.value) : -1;
}

bool page_object(const struct json_node *object, const char *key, struct json_node *out) {
    const struct json_node node = member(object, key);
    if (cJSON_IsObject(node.value))
        *out = node;
    return cJSON_IsObject(node.value);
}

bool page_array(const struct json_node *object, const char *key, size_t max, struct json_node *out) {
    const struct json_node node = member(object, key);
    if (!cJSON_IsArray(node.value) || (size_t)cJSON_GetArraySize(node.value) > max)
        return false;
    *out = node;
    return true;
}

const char *page_names(const struct json_node *object, const char *key, struct arena *arena) {
    struct json_node array;
    char names[PAGE_TEXT_MAX] = "";
    size_t length = 0;
    if (!page_array(object, key, NAMES_MAX, &array))
        return "";
    const cJSON *child;
    cJSON_ArrayForEach(child, array.value) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(child, "name");
        if (!cJSON_IsString(name) || length + strlen(name->valuestring) + 3 > sizeof names)
            continue;
        length +=
            (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "", name->valuestring);
    }
    return arena_text(arena, names, sizeof names);
}
