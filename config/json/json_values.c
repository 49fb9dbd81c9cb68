// SPDX-License-Identifier: Apache-2.0
#include "config/json/json_values.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>

static double number_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(value) ? value->valuedouble : NAN;
}

// The scopes begin with the host.
static int read_type(const cJSON *page, size_t type, json_values_take *take, void *context) {
    const cJSON *host = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(page, "scopes"), 0), *metric;
    const cJSON *metrics = cJSON_GetObjectItemCaseSensitive(host, "metrics");
    if (!cJSON_IsObject(metrics) || !(number_of(page, "sequence") > 0))
        return -EINVAL;
    cJSON_ArrayForEach(metric, metrics) take(type, metric->string, number_of(metric, "value"), number_of(metric, "low"),
                                             number_of(metric, "high"), context);
    return 0;
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
