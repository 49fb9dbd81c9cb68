// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_bottlenecks.h"

#include <math.h>

#include "exporters/view/view_bound.h"

static void add_row(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope,
                    const struct bottleneck_row *row) {
    const struct bottleneck_info *info = &bottleneck_table[row->heading];
    json_begin_object(json, NULL);
    json_string(json, "bottleneck", info->name);
    json_string(json, "title", info->title);
    json_number(json, "value", row->value);
    json_string(json, "reason",
                isnan(row->value) ? view_bound_bottleneck_reason(view, snapshot, scope, row).text : NULL);
    json_number(json, "low", row->low);
    json_number(json, "high", row->high);
    json_bool(json, "rest", row->rest);
    json_string(json, "remedy", info->remedy);
    json_end_object(json);
}

void json_bottlenecks(struct json *json, const struct view *view, const struct snapshot *snapshot, size_t scope) {
    struct bottlenecks bottlenecks = {.n = 0};
    if (bottlenecks_find(snapshot, scope, &bottlenecks) < 0)
        json->out->failed = true;
    json_begin_array(json, "bottlenecks");
    for (size_t i = 0; i < bottlenecks.n; i++)
        add_row(json, view, snapshot, scope, &bottlenecks.rows[i]);
    json_end_array(json);
}
