// SPDX-License-Identifier: Apache-2.0
#include "config/json/json_values.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <math.h>

static double number_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

static int read_scope(const cJSON *scope, const cJSON *round, size_t type, json_values_take *take, void *context) {
    const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(scope, "metrics"), *metric;
    double socket = number_of(scope, "socket");
    if (!cJSON_IsObject(metrics))
        return -EINVAL;
    cJSON_ArrayForEach(metric, metrics) {
        const struct json_value value = {
            .type = type,
            .socket = socket >= 0 && socket <= INT_MAX ? (long)socket : JSON_VALUES_HOST,
            .metric = metric->string,
            .quality_reason = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metric, "quality_reason")),
            .value = number_of(metric, "value"),
            .low = number_of(metric, "low"),
            .high = number_of(metric, "high"),
            .share_of_time = number_of(metric, "share_of_time"),
            .start_ns = number_of(round, "values_start_ns"),
            .end_ns = number_of(round, "values_end_ns")};
        take(&value, context);
    }
    return 0;
}

static int read_type(const cJSON *page, size_t type, json_values_take *take, void *context) {
    const cJSON *scopes = cJSON_GetObjectItemCaseSensitive(page, "scopes"), *scope;
    const cJSON *round = cJSON_GetObjectItemCaseSensitive(page, "round");
    int r = cJSON_GetArraySize(scopes) > 0 && number_of(page, "sequence") > 0 ? 0 : -EINVAL;
    cJSON_ArrayForEach(scope, scopes) {
        if (r == 0)
            r = read_scope(scope, round, type, take, context);
    }
    return r;
}

int json_values_read(const char *text, size_t length, json_values_take *take, void *context) {
    cJSON *document = cJSON_ParseWithLength(text, length);
    const cJSON *types = cJSON_GetObjectItemCaseSensitive(document, "core_types"), *each;
    size_t n = 0;
    int r = document ? 0 : -EINVAL;
    if (r == 0 && !cJSON_IsArray(types))
        r = read_type(document, n++, take, context);
    cJSON_ArrayForEach(each, types) {
        if (r == 0)
            r = read_type(each, n++, take, context);
    }
    cJSON_Delete(document);
    return r < 0 ? r : (int)n;
}
