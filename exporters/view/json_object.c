// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/json_object.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct json json_new(void) {
    struct json json = {.root = cJSON_CreateObject()};
    json.failed = !json.root;
    return json;
}

static cJSON *add(struct json *json, cJSON *parent, const char *key, cJSON *item) {
    if (!parent)
        parent = json->root;
    if (item && parent && (key ? cJSON_AddItemToObject(parent, key, item) : cJSON_AddItemToArray(parent, item)))
        return item;
    cJSON_Delete(item);
    json->failed = true;
    return NULL;
}

cJSON *json_object(struct json *json, cJSON *parent, const char *key) {
    return add(json, parent, key, cJSON_CreateObject());
}

cJSON *json_array(struct json *json, cJSON *parent, const char *key) {
    return add(json, parent, key, cJSON_CreateArray());
}

void json_string(struct json *json, cJSON *parent, const char *key, const char *value) {
    static const struct text_escape none[] = {{0, NULL}};
    struct text text = {0};
    text_escaped(&text, value, none); // the library passes on what is no UTF-8
    text_append(&text, "", 1);
    add(json, parent, key, text.failed ? NULL : cJSON_CreateString(text.data));
    text_free(&text);
}

void json_number(struct json *json, cJSON *parent, const char *key, double value) {
    if (!isfinite(value)) {
        json_null(json, parent, key);
        return;
    }
    char digits[TEXT_NUMBER_MAX + 1];
    digits[text_number(digits, value)] = '\0';
    add(json, parent, key, cJSON_CreateRaw(digits));
}

void json_whole(struct json *json, cJSON *parent, const char *key, uint64_t value) {
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    add(json, parent, key, cJSON_CreateRaw(digits));
}

void json_bool(struct json *json, cJSON *parent, const char *key, bool value) {
    add(json, parent, key, cJSON_CreateBool(value));
}

void json_null(struct json *json, cJSON *parent, const char *key) { add(json, parent, key, cJSON_CreateNull()); }

int json_finish(struct json *json, bool indented, struct text *out) {
    char *printed = json->failed ? NULL : indented ? cJSON_Print(json->root) : cJSON_PrintUnformatted(json->root);
    cJSON_Delete(json->root);
    *json = (struct json){0};
    if (!printed)
        return -ENOMEM;
    text_string(out, printed);
    cJSON_free(printed);
    return out->failed ? -ENOMEM : 0;
}
