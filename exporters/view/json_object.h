// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_JSON_JSON_OBJECT_H
#define TOPDOWND_EXPORTERS_JSON_JSON_OBJECT_H

// Builds JSON objects. That memory was short is remembered, and asked for once at the end.

#include <cjson/cJSON.h>

#include "exporters/view/text.h"

struct json {
    cJSON *root;
    bool failed;
};

struct json json_new(void);

// Add to an object, or with a NULL key to an array; a NULL parent is the root.
cJSON *json_object(struct json *json, cJSON *parent, const char *key);
cJSON *json_array(struct json *json, cJSON *parent, const char *key);
void json_string(struct json *json, cJSON *parent, const char *key, const char *value);
void json_number(struct json *json, cJSON *parent, const char *key, double value); // null where not finite
void json_whole(struct json *json, cJSON *parent, const char *key, uint64_t value);
void json_bool(struct json *json, cJSON *parent, const char *key, bool value);
void json_null(struct json *json, cJSON *parent, const char *key);

// Frees the object; appends it to `out` unless memory was short. Returns 0 or -ENOMEM.
int json_finish(struct json *json, bool indented, struct text *out);

#endif
