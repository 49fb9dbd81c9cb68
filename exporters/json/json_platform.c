// SPDX-License-Identifier: Apache-2.0
//
// The platform's facts: a value, or the values of CPUs that differ, or why it is not known.

#include <math.h>

#include "exporters/json/json_parts.h"

static void add_value(struct json *json, enum platform_unit unit, const struct platform_value *value) {
    if (unit == PLATFORM_TEXT)
        json_string(json, "value", value->text);
    else
        json_number(json, "value", value->number);
}

static void add_fact(struct json *json, const struct platform_name *name, const struct platform_fact *fact) {
    json_begin_object(json, name->key);
    if (fact->n_values == 1)
        add_value(json, name->unit, &fact->values[0]);
    else
        json_null(json, "value");
    json_string(json, "reason", fact->n_values == 0 ? fact->reason : fact->n_values > 1 ? "CPUs differ" : NULL);
    json_begin_array(json, "by_cpus");
    for (size_t i = 0; fact->n_values > 1 && i < fact->n_values; i++) {
        json_begin_object(json, NULL);
        add_value(json, name->unit, &fact->values[i]);
        json_string(json, "cpus", fact->values[i].cpus);
        json_whole(json, "n_cpus", fact->values[i].n_cpus);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

void json_platform(struct json *json, const struct platform *platform) {
    if (!platform) {
        json_null(json, "platform");
        return;
    }
    json_begin_object(json, "platform");
    for (int key = 0; key < PLATFORM_KEY_N; key++)
        add_fact(json, &platform_names[key], &platform->facts[key]);
    json_end_object(json);
}
